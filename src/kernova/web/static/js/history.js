/** Every step, newest first; undone steps are struck through, and every answer can be changed. */

import { changeAnswer, labelRows, undo } from "./actions.js";
import { get } from "./api.js";
import { button, byId, element, fill, keepingFocus, say } from "./dom.js";
import { readCard, thumbnail } from "./media.js";
import { askName } from "./naming.js";
import { isSeen, onShown } from "./router.js";
import { openRow } from "./row_dialog.js";
import { listen, store } from "./store.js";
import { counted, quoted, timeWords, worded } from "./words.js";

/** @typedef {import("./types.js").HistoryEntry} Entry */
/** @typedef {{entries: Entry[], isWhole: boolean}} Read */

const PART = 50;
/** @type {Entry[]} */
let entries = [];
let isWhole = false;
/** @type {number|null|undefined} */
let readVersion = null;
/** @type {ReturnType<typeof build>|null} */
let parts = null;

/** Build the view. */
export function startHistory() {
  onShown("history", () => void catchUp());
  listen(["state"], () => isSeen("history") && void catchUp());
}

async function catchUp() {
  parts ??= build();
  const version = store.state?.version;
  if (readVersion === version) return;
  readVersion = version;
  const read = await readBefore([], Math.max(PART, entries.length));
  // A newer version is being read by now; what cannot be read stays as it was.
  if (readVersion !== version) return;
  if (read === null) return void (readVersion = null);
  take(read);
  parts.list.dataset.version = String(version);
}

function build() {
  const find = element("input", { type: "search", id: "history-find", "data-testid": "history-find", placeholder: "id, category, expert …", on: { input: show } });
  const undone = element("input", { type: "checkbox", checked: true, on: { change: show } });
  const words = element("p", { class: "hint", role: "status", "data-testid": "history-words" });
  const list = element("ol", { class: "history-list", "data-testid": "history-list" });
  const more = button("Load more", () => void readMore(), { "data-testid": "history-more" });
  fill(byId("view-history"),
    element("header", { class: "view-head" }, element("h1", { id: "history-heading" }, "History"), button("Undo the last step", () => void undo(), { "data-testid": "history-undo" })),
    element("p", { class: "lead" }, "Nothing is ever deleted: undone steps stay here, struck through."),
    element("div", { class: "line filters" }, element("label", { for: "history-find" }, "Find"), find, element("label", { class: "check-line" }, undone, "include undone steps")),
    words, list, more);
  return { find, undone, words, list, more };
}

async function readMore() {
  const version = readVersion;
  const read = await readBefore(entries, PART);
  if (read !== null && readVersion === version) take(read);
}

/** @param {Read} read */
function take(read) {
  ({ entries, isWhole } = read);
  show();
}

/**
 * Read entries older than the last of these; null where the server cannot be read.
 * @param {Entry[]} known
 * @param {number} number
 */
async function readBefore(known, number) {
  /** @type {Read} */
  const read = { entries: [...known], isWhole: false };
  let left = number;
  while (left > 0 && !read.isWhole) {
    const limit = Math.min(left, 200);
    const reply = await get("/api/history", { limit, before: read.entries.at(-1)?.number }).catch(() => null);
    if (reply === null) return null;
    read.entries.push(...reply.entries);
    read.isWhole = read.entries.length >= reply.total || reply.entries.length === 0;
    left -= reply.entries.length;
  }
  return read;
}

function show() {
  if (!parts) return;
  const { find, undone, words, list, more } = parts;
  const wanted = find.value.trim().toLowerCase();
  /** @param {Entry} entry */
  const matches = (entry) => (entry.counts || undone.checked) && (!wanted || textOf(entry).includes(wanted));
  const found = entries.filter(matches);
  keepingFocus(list, () => fill(list, ...found.map(historyItem)));
  more.hidden = isWhole;
  const among = isWhole ? "" : ` among the newest ${entries.length}`;
  if (entries.length === 0) say(words, "No entries yet.");
  else say(words, wanted || !undone.checked ? `${counted(found.length, "entry", "entries")} found${among}.` : `${counted(entries.length, "entry", "entries")}${isWhole ? "" : ", and older ones"}.`);
}

/** @param {Entry} entry */
function textOf({ words, by, id, label, label_now: now, number }) {
  return [words, by, id, label, now, number].join(" ").toLowerCase();
}

/** @param {Entry} entry */
function historyItem(entry) {
  const { number, at, by, words, counts, row, kind } = entry;
  const look = row !== null && button([thumbnail(row)], () => void openRow(row), { class: "thumb-button", "aria-label": `View ${entry.id}` });
  const change = counts && canChange(entry) && button("Change …", () => void changeOne(entry), { class: "small", "data-testid": "change", "aria-label": `Change: ${words}` });
  const isUndo = kind === "undo";
  const text = counts || isUndo ? element("span", {}, words) : element("s", {}, words);
  return element("li", { class: counts ? null : "undone", data: { number: String(number), kind } },
    element("span", { class: "history-number" }, number), look || element("span", { class: "thumb-gap" }),
    element("p", {}, text, !counts && !isUndo && element("span", { class: "hint" }, " undone"), nowWords(entry),
      element("small", { class: "hint" }, `${by || "unnamed"} · `, element("time", { datetime: at }, timeWords(at)))),
    change);
}

/**
 * The row's current label, where it was changed later.
 * @param {Entry} entry
 */
function nowWords({ kind, counts, label, label_now: now }) {
  if (!counts || !["answer", "label", "skip", "unsure"].includes(kind) || now === label) return null;
  if (kind === "unsure" && now === null) return null;
  return element("span", { class: "hint", "data-testid": "label-now" }, now ? ` now ${quoted(now)}` : " now unlabelled");
}

/** @param {Entry} entry */
function canChange({ kind, question, row }) {
  return question !== null || (kind === "label" && row !== null);
}

/** @param {Entry} entry */
async function changeOne({ number, question, row, id, kind, label: before }) {
  // Later steps may have changed it: what counts is the label that the row has now.
  const { label } = row === null ? { label: before } : await readCard(row).catch(() => ({ label: before }));
  let isSkipped = false;
  const asSkipped = question !== null && kind !== "skip" && label && button("Mark as skipped", () => {
    isSkipped = true;
    asSkipped && asSkipped.closest("dialog")?.close();
  }, { class: "small", "data-testid": "change-skip" });
  const words = label ? `Current label: ${quoted(label)}. ${worded("Rows labelled together with it change as well.")}` : kind === "unsure" ? "Left undecided so far." : "Skipped so far.";
  const name = await askName({ title: `Change ${id ?? `answer ${number}`}`, words, but: label ?? "", action: "Change", extra: asSkipped ? [element("p", {}, asSkipped)] : [] });
  if (question !== null && (isSkipped || name !== null)) await changeAnswer(question, row, isSkipped ? null : name);
  else if (name !== null && row !== null) await labelRows([row], name);
}
