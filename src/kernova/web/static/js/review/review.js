/**
 * The review: rows of a category, or of all, as a grid; their suggestions and labels are accepted, moved, rejected, left
 * undecided, opened again or flagged, many in one step.
 */

import { acceptRows, flagRows, markUnsure, moveRows, rejectRows, reopenRows } from "../actions.js";
import { messageOf } from "../api.js";
import { onCategoryKey } from "../category_keys.js";
import { confirmed } from "../dialogs.js";
import { button, byId, element, fill, say } from "../dom.js";
import { keep, kept } from "../kept.js";
import { areKeysOn, explain, isSecondAwaited, isTyping } from "../keys.js";
import { mediaKind } from "../media.js";
import { openAlike } from "../more_like.js";
import { askName } from "../naming.js";
import { announce } from "../notices.js";
import { outbox } from "../outbox.js";
import { currentView, goTo, isSeen, onShown } from "../router.js";
import { openRow } from "../row_dialog.js";
import { listen, store } from "../store.js";
import { counted, whole, worded } from "../words.js";
import { reviewCard, signatureOf } from "./card.js";
import { makeFilters } from "./filters.js";
import { makeGrid } from "./grid.js";
import { makeListing } from "./listing.js";
import { makeSelection } from "./selection.js";
import { openTakeBack } from "./take_back.js";
import { makeThreshold } from "./threshold.js";

/** @typedef {import("../types.js").ReviewRow} ReviewRow */
/** @typedef {import("../types.js").SavedReply} SavedReply */
/** @typedef {import("../actions.js").SelectedRows} SelectedRows */
/** @typedef {{category?: string|null, status?: import("./filters.js").Status}} Wish */

/** Least widths of cards in rem. */
const SIZES = { small: 5, medium: 8, large: 13 };
/** Heights of the words on a card: with a line for doubts or the status, and without. */
const WORDS_REM = 3.6;
const FEW_WORDS_REM = 2.5;
/** Height by width of what a row without a picture shows. */
const STRIP = 0.6;
const GROUP = "Review";
/** Statuses of rows that have a label: there is nothing to accept. */
const LABELLED = ["hand", "accepted", "prior"];

/** @type {ReturnType<typeof build>|null} */
let parts = null;
/** @type {Wish|null} */
let wish = null;
let seenVersion = -1;
/** How often a list was begun: what comes late is dropped. */
let begun = 0;

/** Build the view and explain its keys. */
export function startReview() {
  onShown("review", show);
  listen(["state"], () => isSeen("review") && show());
  document.addEventListener("keydown", onKey, true);
  onCategoryKey("review", { choose: ({ name }) => parts && parts.listing.total() > 0 && void move(name), say: announce });
  for (const [shown, words] of /** @type {[string, string][]} */ ([
    ["← ↑ → ↓", "go to another row; with Shift, select on the way"], ["Space", "select the row, or leave it out"], ["Ctrl A", "select all rows that match"],
    ["Enter", "accept the suggestion of the selected rows"], ["1 … 9", "move them to the category with this key"], ["N", "move them to another or a new category"],
    ["X", "not this category"], ["D", "leave undecided"], ["F", "flag, or remove the flag"], ["O", "open again: remove the label"],
    ["P", "view the row"], ["R", "rows like this one"], ["Esc", "clear the selection, then back to the question"],
  ])) explain(shown, GROUP, words);
}

/**
 * Go to the review of a category.
 * @param {Wish} wanted
 */
export function openReview(wanted) {
  wish = wanted;
  if (currentView() === "review") show();
  else goTo("review");
}

function build() {
  const words = element("p", { class: "review-words", role: "status", "data-testid": "review-words" });
  const newer = button("Newer suggestions are there: show them", () => void begin(), { class: "small", hidden: true, "data-testid": "review-newer" });
  const empty = element("p", { class: "lead", "data-testid": "review-empty", hidden: true });
  const listing = makeListing(() => onRead(), (error) => say(words, messageOf(error)));
  const selection = makeSelection(() => listing, () => showSelection());
  const grid = makeGrid({
    total: listing.total,
    card: (place) => {
      const one = listing.at(place);
      return reviewCard(one, one !== undefined && selection.has(one.row));
    },
    onShown: (from, to) => listing.need(from, to),
    onPress: (place) => press(place),
    onOpen: (place) => view(place),
    onRange: (from, to) => void range([[from, to]]),
    onBand: (ranges, phase, isAdded) => {
      if (phase === "start") selection.hold({ keep: isAdded });
      else void range(ranges);
    },
    sizes,
  });
  const filters = makeFilters(() => void begin());
  const threshold = makeThreshold({
    onChoose: (lowest) => {
      filters.setLowest(lowest);
      void begin({ isSlid: true });
    },
    onAccept: (point, isPromised, learnt) => void acceptAll(point, isPromised, learnt),
  });
  const size = element("select", { id: "review-size", class: "small", "data-testid": "review-size", on: { change: () => {
    keep("review-size", size.value);
    grid.rebuild();
  } } }, ...Object.keys(SIZES).map((name) => element("option", { value: name, selected: name === (kept("review-size") ?? "medium") }, name)));
  const bar = actionBar();
  fill(byId("view-review"),
    element("header", { class: "view-head" }, element("h1", { id: "review-heading" }, "Review"),
      element("span", { class: "line review-field" }, element("label", { for: "review-size" }, "Cards"), size),
      button("Take back …", openTakeBack, { class: "small", title: "Take back accepted suggestions by a rule", "data-testid": "review-take-back" })),
    filters.node, threshold.node,
    element("div", { class: "line" }, words, newer), empty, grid.node, bar.node);
  return { words, newer, empty, listing, selection, grid, filters, threshold, bar };
}

function sizes() {
  const rem = parseFloat(getComputedStyle(document.documentElement).fontSize);
  const chosen = /** @type {keyof typeof SIZES} */ (kept("review-size") ?? "medium");
  const isShort = parts?.listing.query().status === "suggested";
  return { width: (SIZES[chosen] ?? SIZES.medium) * rem, shape: mediaKind() === "none" ? STRIP : 1, words: (isShort ? FEW_WORDS_REM : WORDS_REM) * rem };
}

/** The buttons for what is selected, which stay on the screen. */
function actionBar() {
  const count = element("b", { "data-testid": "review-count" });
  /** @type {(key: string, words: string, act: () => void, testid: string, className?: string) => HTMLButtonElement} */
  const tool = (key, words, does, testid, className = "") => button([element("kbd", {}, key), ` ${words}`], does, { class: `small ${className}`, "data-testid": testid, "aria-keyshortcuts": key === "⏎" ? "Enter" : key });
  const tools = [
    tool("⏎", "Accept", accept, "review-accept", "primary"), tool("N", "Move to …", () => void move(), "review-move"), tool("X", "Not this", () => void reject(), "review-reject"),
    tool("D", "Undecided", () => void act(markUnsure), "review-unsure"), tool("F", "Flag", flag, "review-flag"), tool("O", "Open again", () => void act(reopenRows), "review-reopen"),
  ];
  const all = button("Select all", () => selectAll(), { class: "small quiet", "data-testid": "review-all" });
  const clear = button("Clear", () => parts?.selection.clear(), { class: "small quiet", "data-testid": "review-clear" });
  const node = element("div", { class: "review-bar", role: "toolbar", "aria-label": "What to do with the selected rows", "data-testid": "review-bar" }, count, ...tools, all, clear);
  return { node, count, all, clear, accept: tools[0] };
}

// --- lists ---------------------------------------------------------------------------------------

function show() {
  const isFirst = parts === null;
  parts ??= build();
  parts.filters.refresh();
  const version = store.state?.version ?? -1;
  if (isFirst && wish === null) wish = { category: null, status: store.state?.learn.generation ? "suggested" : "all" };
  if (wish !== null) {
    parts.filters.choose(wish);
    wish = null;
    void begin();
  } else if (version !== seenVersion && parts.listing.isRead()) {
    void parts.listing.again();
  }
  seenVersion = version;
}

/** Read the list anew; after a decision, where it is now. */
async function begin({ isSlid = false, stays = false } = {}) {
  if (!parts) return;
  const { listing, selection, grid, filters, threshold } = parts;
  begun += 1;
  const asked = begun;
  if (!stays) grid.restart();
  selection.clear();
  const run = isSlid ? listing.learnt() : store.state?.learn.generation ?? null;
  if (!isSlid) {
    const recommended = await threshold.show(filters.query(), run);
    if (asked !== begun) return;
    // It begins where enough is promised; from there one looks further down.
    if (recommended !== null && filters.query().lowest === undefined) {
      filters.setLowest(recommended);
      threshold.set(recommended);
    }
  }
  await listing.begin(filters.query(), stays ? grid.active() : 0, run);
  if (asked === begun) grid.rebuild();
}

/**
 * Accept all suggestions from a probability on.
 * @param {import("../types.js").PrecisionReply} point
 * @param {boolean} isPromised
 * @param {number|null} learnt
 */
async function acceptAll({ rows, threshold, promised }, isPromised, learnt) {
  if (!parts) return;
  const query = { ...parts.filters.query(), lowest: threshold };
  const doubt = `Fewer than nine of ten may be right: ${promised.toFixed(2)} or more is to be expected.`;
  if (!isPromised && !(await confirmed(`Accept ${counted(rows, "suggestion")}?`, [doubt, worded("Accepted rows stay apart from those labelled by hand, and can be taken back.")], "Accept"))) return;
  await act((selected) => acceptRows(selected, rows), { query, count: rows, learnt });
}

function onRead() {
  if (!parts) return;
  const { listing, grid, newer, empty } = parts;
  newer.hidden = !listing.isOld();
  empty.hidden = listing.total() > 0;
  grid.list.hidden = listing.total() === 0;
  if (listing.total() === 0) say(empty, emptyWords());
  grid.renew((card, place) => {
    const one = listing.at(place);
    return one !== undefined && card.dataset.signature !== signatureOf(one);
  });
  showSelection();
}

function emptyWords() {
  if (store.state?.learn.generation === null && parts?.filters.query().status === "suggested") return worded("There are no suggestions yet: they begin with the second labelled row.");
  return worded("No row matches.");
}

function showSelection() {
  if (!parts) return;
  const { words, listing, selection, grid, bar } = parts;
  const count = selection.count();
  say(words, `${counted(listing.total(), "row")}${count ? `, ${whole(count)} selected` : ""}.`);
  fill(bar.count, count ? `${whole(count)} selected` : worded("The marked row"));
  bar.clear.hidden = count === 0;
  bar.accept.hidden = LABELLED.includes(listing.query().status ?? "all");
  fill(bar.all, `Select all ${whole(listing.total())}`);
  bar.all.hidden = listing.total() === 0 || selection.isAll();
  grid.each((card, place) => {
    const one = listing.at(place);
    card.setAttribute("aria-selected", String(one !== undefined && selection.has(one.row)));
  });
}

// --- selecting -----------------------------------------------------------------------------------

/** @param {number} place */
function press(place) {
  const one = parts?.listing.at(place);
  if (one) void parts?.selection.toggle(one.row);
}

/** @param {number} place */
function view(place) {
  const one = parts?.listing.at(place);
  if (one) void openRow(one.row);
}

let turn = 0;
/**
 * Select ranges of places beside what was held.
 * @param {[number, number][]} ranges
 */
async function range(ranges) {
  if (!parts) return;
  const { listing, selection } = parts;
  turn += 1;
  const asked = turn;
  const rows = await Promise.all(ranges.map(([from, to]) => listing.numbers(from, to)));
  if (asked === turn) selection.extend(rows.flat());
}

function selectAll() {
  parts?.selection.all();
  announce(`${counted(parts?.selection.count() ?? 0, "row")} selected.`);
}

// --- decisions -----------------------------------------------------------------------------------

/** What is decided about: the selected rows, or the one that keys act on. */
function chosen() {
  if (!parts) return null;
  const { listing, selection, grid } = parts;
  if (selection.count() > 0) return { selected: selection.asked(), count: selection.count() };
  const one = listing.at(grid.active());
  return one ? { selected: { rows: [one.row], learnt: listing.learnt() }, count: 1 } : null;
}

/** Whether something is being decided: until the list is shown anew, keys would act on rows of before. */
let isDeciding = false;

/**
 * Decide, then show the list as it is now.
 * @param {(selected: SelectedRows, count: number) => Promise<SavedReply|null>} decide
 * @param {SelectedRows} [rows] others than those that are selected
 */
async function act(decide, rows) {
  const found = rows ? { selected: rows, count: rows.count ?? 0 } : chosen();
  if (!found || isDeciding || outbox.waiting > 0) return;
  setDeciding(true);
  try {
    const reply = await decide(found.selected, found.count);
    if (reply !== null || rows) await begin({ stays: true });
  } finally {
    setDeciding(false);
  }
  if (isSeen("review")) parts?.grid.list.focus({ preventScroll: true });
}

/** @param {boolean} isOn */
function setDeciding(isOn) {
  isDeciding = isOn;
  parts?.grid.list.setAttribute("aria-busy", String(isOn));
}

function accept() {
  void act(acceptRows);
}

function flag() {
  const isOn = !chosenRows().every((one) => one.is_flagged);
  void act((selected, count) => flagRows(selected, count, isOn));
}

/** The selected rows that are on the screen or near it; all of them, where there are few. */
function chosenRows() {
  if (!parts) return [];
  const { listing, selection, grid } = parts;
  const isOne = selection.count() === 0;
  const places = isOne ? [grid.active()] : Array.from({ length: listing.total() }, (_, place) => place);
  /** @type {ReviewRow[]} */
  const found = [];
  for (const place of places) {
    const one = listing.at(place);
    if (one && (isOne || selection.has(one.row))) found.push(one);
  }
  return found;
}

/** @param {string} [name] */
async function move(name) {
  const found = chosen();
  if (!found || isDeciding) return;
  const label = name ?? (await askName({ title: `Label ${counted(found.count, "row")}`, words: "They count as labelled by hand. A single undo reverses this." }));
  if (label !== null) await act((selected, count) => moveRows(selected, count, label));
}

/** Rows are not of their category: the one that is listed, or the one that they share. */
async function reject() {
  const found = chosen();
  if (!found || !parts || isDeciding) return;
  const listed = parts.filters.query().category;
  const names = new Set(chosenRows().map((one) => one.label ?? one.suggested));
  const shared = names.size === 1 && !parts.selection.isAll() ? [...names][0] : null;
  const label = listed ?? shared ?? (await askName({ title: `Which category are ${counted(found.count, "row")} not of?`, words: "It is not suggested for them again; those that have it lose it." }));
  if (label !== null) await act((selected, count) => rejectRows(selected, count, label));
}

// --- keys ----------------------------------------------------------------------------------------

/** @type {Object<string, () => void>} */
const KEYS = {
  Enter: accept,
  " ": () => parts && press(parts.grid.active()),
  n: () => void move(),
  x: () => void reject(),
  d: () => void act(markUnsure),
  f: flag,
  o: () => void act(reopenRows),
  p: () => parts && view(parts.grid.active()),
  r: () => {
    const one = parts?.listing.at(parts.grid.active());
    if (one) void openAlike([one.row]);
  },
};

/** @param {KeyboardEvent} event */
function onKey(event) {
  const target = event.target instanceof Element ? event.target : null;
  if (!parts || currentView() !== "review" || document.querySelector("dialog[open]") || isTyping(target) || event.isComposing || event.altKey || isSecondAwaited()) return;
  const isGrid = target === parts.grid.list;
  if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "a") return take(event, selectAll);
  if (event.ctrlKey || event.metaKey || event.repeat || !areKeysOn()) return;
  // Elsewhere, these press what has the focus.
  if ((event.key === "Enter" || event.key === " ") && !isGrid && target?.closest("button, a, input, select, summary, label")) return;
  if (event.key === "Escape" && parts.selection.count() > 0) return take(event, () => parts?.selection.clear());
  const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  if (key in KEYS && parts.listing.total() > 0) take(event, KEYS[key]);
}

/**
 * @param {KeyboardEvent} event
 * @param {() => void} does
 */
function take(event, does) {
  event.preventDefault();
  event.stopPropagation();
  does();
}
