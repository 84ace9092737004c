/** The categories as buttons with keys, and the other answers to a question. */

import { button, byId, element, fill, focusedElement, say, within } from "./dom.js";
import { glyph } from "./glyph.js";
import { categories, store } from "./store.js";
import { counted, keyShown, shortened, whole, worded } from "./words.js";

/** @typedef {import("./types.js").Category} Category */
/** @typedef {import("./types.js").Card} Card */
/** @typedef {NonNullable<Card["confidence"]>} Confidence */

const MOST_LETTERS = 30;
const NOTICE_MS = 6000;
const CONFIDENCES = /** @type {(Confidence|null)[]} */ ([null, "low", "medium", "high"]);

/**
 * Make the buttons that answer a question.
 * @param {{onName: (name: string, again: string) => void, onNew: () => void, onSkip: () => void, onUnsure: () => void, onUndo: () => void, onNote: () => void, onFlag: () => void, onAlso: () => void}} acts
 */
export function answerPad(acts) {
  const list = element("ul", { class: "answer-list", "data-testid": "answers" });
  /** @type {(key: string, words: string, act: () => void, testid: string, properties?: import("./dom.js").Properties) => HTMLButtonElement} */
  const tool = (key, words, act, testid, properties = {}) =>
    button([element("kbd", {}, key), element("span", {}, words)], byPointer(act), { class: "tool", "data-testid": testid, "aria-keyshortcuts": key, ...properties });
  const others = [
    tool("N", "New or other …", acts.onNew, "new-category"), tool("S", "Skip", acts.onSkip, "skip"),
    tool("D", "Unsure", acts.onUnsure, "unsure", { title: "It cannot be decided: listed apart from what was skipped" }), tool("U", "Undo", acts.onUndo, "undo")];
  const flag = tool("F", "Flag", acts.onFlag, "flag", { class: "tool remark-tool", "aria-pressed": "false" });
  const sure = tool("K", "Confidence", cycle, "confidence", { class: "tool remark-tool", title: "How sure you are of the next answer: low, medium or high" });
  const also = tool("O", "Also …", acts.onAlso, "also", { class: "tool remark-tool", title: "A further label beside the category" });
  const note = tool("T", "Note …", acts.onNote, "note", { class: "tool remark-tool" });
  // One line for all, so that nothing moves when the whole cluster is to be labelled, or a key came too early.
  const hint = element("p", { class: "scope", role: "status", "data-testid": "scope" });
  const node = element("div", { class: "answers", role: "group", "aria-label": "Which category is it?" }, list, element("div", { class: "answer-tools" }, others, note, flag, sure, also), hint);
  let shown = "";
  let number = 0;
  /** @type {number|null} */
  let count = null;
  /** @type {Confidence|null} */
  let confidence = null;
  let notice = "";
  let ending = 0;

  function show() {
    const now = categories();
    const names = JSON.stringify(now.map(({ colour, name, key, heading }) => [colour, name, key, heading]));
    if (names !== shown || list.childElementCount === 0) rebuild(now);
    shown = names;
    number = now.length;
    const rows = new Map(now.map((category) => [category.name, category.rows]));
    for (const one of list.querySelectorAll("button")) fill(within(one, "small"), whole(rows.get(one.dataset.name ?? "") ?? 0));
    also.hidden = !store.state?.has_further_labels;
    showHint();
  }
  /**
   * New buttons only where the names have changed: the focus stays where it was.
   * @param {Category[]} now
   */
  function rebuild(now) {
    const focused = list.contains(document.activeElement) ? focusedElement()?.dataset.name : undefined;
    const items = (/** @type {Category[]} */ some) => some.map((category) => element("li", {}, answerButton(category, acts.onName)));
    const groups = underHeadings(now);
    fill(list, groups.length > 1 || groups[0]?.heading ? groups.map(({ heading, members }, index) => groupItem(heading, items(members), index)) : items(now));
    if (focused !== undefined) [...list.querySelectorAll("button")].find((one) => one.dataset.name === focused)?.focus();
  }
  function showHint() {
    hint.classList.toggle("is-all", count !== null && !notice);
    hint.classList.toggle("is-notice", notice !== "");
    if (notice) say(hint, notice);
    else if (count !== null) say(hint, `The label applies to ${counted(count, "row")}; press A for this one only.`);
    else if (number === 0) say(hint, "No categories yet: press N and type a name.");
    else say(hint, categories().some(({ key }) => key === null) ? "Press N to find categories without a key." : worded("The label applies to this row only."));
  }
  /** @param {number|null} rows */
  function showScope(rows) {
    count = rows;
    showHint();
  }
  /**
   * Show something that concerns the expert now; it stays until the next answer, or for some seconds.
   * @param {string} words
   */
  function showNotice(words) {
    notice = words;
    clearTimeout(ending);
    if (words) ending = setTimeout(showNotice, NOTICE_MS, "");
    showHint();
  }
  /** Press again and again: low, medium, high, and none. */
  function cycle() {
    showConfidence(CONFIDENCES[(CONFIDENCES.indexOf(confidence) + 1) % CONFIDENCES.length]);
    showNotice(confidence === null ? "The next answer is saved without a confidence." : `The next answer is saved with ${confidence} confidence.`);
  }
  /** @param {Confidence|null} now */
  function showConfidence(now) {
    confidence = now;
    sure.setAttribute("aria-pressed", String(now !== null));
    fill(within(sure, "span"), now === null ? "Confidence" : `Confidence: ${now}`);
  }
  /** @param {Card} card */
  function showRemarks(card) {
    flag.setAttribute("aria-pressed", String(card.is_flagged));
    fill(within(flag, "span"), card.is_flagged ? "Flagged" : "Flag");
  }
  return { node, show, showScope, showNotice, showRemarks, cycle, confidence: () => confidence, forgetConfidence: () => showConfidence(null) };
}

/**
 * The categories under their headings, in order of discovery; those without a heading come first.
 * @param {Category[]} now
 * @returns {{heading: string|null, members: Category[]}[]}
 */
export function underHeadings(now) {
  /** @type {Map<string|null, Category[]>} */
  const groups = new Map(now.some(({ heading }) => heading === null) ? [[null, []]] : []);
  for (const category of now) groups.set(category.heading, [...(groups.get(category.heading) ?? []), category]);
  return [...groups].map(([heading, members]) => ({ heading, members }));
}

/**
 * @param {string|null} heading
 * @param {HTMLElement[]} items
 * @param {number} index
 */
function groupItem(heading, items, index) {
  const id = `answer-heading-${index}`;
  return element("li", { class: "answer-group" }, heading !== null && element("p", { class: "answer-heading", id }, heading),
    element("ul", { class: "answer-list", "aria-labelledby": heading === null ? null : id }, items));
}

/**
 * @param {Category} category
 * @param {(name: string, again: string) => void} onName
 */
function answerButton({ name, colour, rows, key }, onName) {
  const short = shortened(name, MOST_LETTERS);
  const words = element("span", { class: "answer-name" }, short);
  const keys = key === null ? "" : key.length === 1 ? `, key ${keyShown(key)}` : `, keys ${keyShown(key)}`;
  const isLong = short !== name;
  return button([element("kbd", {}, keyShown(key)), glyph(colour), words, element("small", {}, whole(rows))], byPointer(() => onName(name, `choose ${name} again`)), {
    data: { name, key }, "data-testid": `answer-${name}`, "aria-keyshortcuts": key?.length === 1 ? key.toUpperCase() : null,
    "aria-label": isLong ? `${name}${keys}` : null, title: `${name}${keys}`,
    // The whole name, once a key has brought the focus here.
    on: isLong ? { focus: () => say(words, name), blur: () => say(words, short) } : {},
  });
}

/**
 * After a click the focus goes to the question: Space, which plays a sound, must not press the button again.
 * @param {() => void} act
 * @returns {(event: MouseEvent) => void}
 */
export function byPointer(act) {
  return (event) => {
    if (event.detail > 0) byId("view-question").focus({ preventScroll: true });
    act();
  };
}
