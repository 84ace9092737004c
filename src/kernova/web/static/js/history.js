/** Everything that was said, newest first; what was taken back is struck through, and every answer can be changed. */

import { changeAnswer, labelRows, undo } from "./actions.js";
import { get } from "./api.js";
import { button, byId, element, fill, keepingFocus, say } from "./dom.js";
import { readCard, thumbnail } from "./media.js";
import { askName } from "./naming.js";
import { isSeen, onShown } from "./router.js";
import { openRow } from "./row_dialog.js";
import { listen, store } from "./store.js";
import { counted, quoted, timeWords } from "./words.js";

const PART = 50;
let entries = [];
let isWhole = false;
let readVersion = null;
let parts = null;

/** Build the view. */
export function startHistory() {
  onShown("history", () => void catchUp());
  listen("state", () => isSeen("history") && void catchUp());
}

async function catchUp() {
  parts ??= build();
  const version = store.state?.version;
  if (readVersion === version) return;
  readVersion = version;
  const read = await readBefore([], Math.max(PART, entries.length));
  // What was said meanwhile is being read by now; what cannot be read stays as it was.
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
    element("p", { class: "lead" }, "Nothing is ever deleted: what was taken back stays here, struck through."),
    element("div", { class: "line filters" }, element("label", { for: "history-find" }, "Find"), find, element("label", { class: "check-line" }, undone, "with what was taken back")),
    words, list, more);
  return { find, undone, words, list, more };
}

async function readMore() {
  const version = readVersion;
  const read = await readBefore(entries, PART);
  if (read !== null && readVersion === version) take(read);
}

function take(read) {
  ({ entries, isWhole } = read);
  show();
}

/** Read entries older than the last of these; null where the server cannot be read. */
async function readBefore(known, number) {
  const read = { entries: [...known], isWhole: false };
  let left = number;
  while (left > 0 && !read.isWhole) {
    const limit = Math.min(left, 200);
    const before = read.entries.length ? `&before=${read.entries.at(-1).number}` : "";
    const reply = await get(`/api/history?limit=${limit}${before}`).catch(() => null);
    if (reply === null) return null;
    read.entries.push(...reply.entries);
    read.isWhole = read.entries.length >= reply.total || reply.entries.length === 0;
    left -= reply.entries.length;
  }
  return read;
}

function show() {
  const wanted = parts.find.value.trim().toLowerCase();
  const suits = (entry) => (entry.counts || parts.undone.checked) && (!wanted || textOf(entry).includes(wanted));
  const found = entries.filter(suits);
  keepingFocus(parts.list, () => fill(parts.list, ...found.map(historyItem)));
  parts.more.hidden = isWhole;
  const among = isWhole ? "" : ` among the newest ${entries.length}`;
  if (entries.length === 0) say(parts.words, "Nothing was said yet.");
  else say(parts.words, wanted || !parts.undone.checked ? `${counted(found.length, "entry", "entries")} found${among}.` : `${counted(entries.length, "entry", "entries")}${isWhole ? "" : ", and more before"}.`);
}

function textOf({ words, by, id, label, label_now: now, number }) {
  return [words, by, id, label, now, number].join(" ").toLowerCase();
}

function historyItem(entry) {
  const { number, at, by, words, counts, row, kind } = entry;
  const hasRow = row !== null && row !== undefined;
  const look = hasRow && button([thumbnail(row)], () => void openRow(row), { class: "thumb-button", "aria-label": `Look at ${entry.id}` });
  const change = counts && canChange(entry) && button("Change …", () => void changeOne(entry), { class: "small", "data-testid": "change", "aria-label": `Change: ${words}` });
  const isUndo = kind === "undo";
  const text = counts || isUndo ? element("span", {}, words) : element("s", {}, words);
  return element("li", { class: counts ? null : "undone", data: { number: String(number), kind } },
    element("span", { class: "history-number" }, number), look || element("span", { class: "thumb-gap" }),
    element("p", {}, text, !counts && !isUndo && element("span", { class: "hint" }, " taken back"), nowWords(entry),
      element("small", { class: "hint" }, `${by || "unnamed"} · `, element("time", { datetime: at }, timeWords(at)))),
    change);
}

/** Where something else was said later, what the row is now. */
function nowWords({ kind, counts, label, label_now: now }) {
  if (!counts || !["answer", "label", "skip"].includes(kind) || (now ?? null) === (label ?? null)) return null;
  return element("span", { class: "hint", "data-testid": "label-now" }, now ? ` now ${quoted(now)}` : " now without a name");
}

function canChange({ kind, question, row }) {
  return (question ?? null) !== null || (kind === "label" && (row ?? null) !== null);
}

async function changeOne({ number, question, row, id, kind, label: said }) {
  // Later words may have changed it: what counts is the name that the row has now.
  const { label } = (row ?? null) === null ? { label: said } : await readCard(row).catch(() => ({ label: said }));
  const isAnswer = (question ?? null) !== null;
  const cancelIt = isAnswer && kind !== "skip" && label;
  let isSkipped = false;
  const asSkipped = cancelIt && button("Count it as skipped", (event) => {
    isSkipped = true;
    event.target.closest("dialog").close();
  }, { class: "small", "data-testid": "change-skip" });
  const words = label ? `It is ${quoted(label)} so far. Rows named with it change, too.` : "It was skipped so far.";
  const name = await askName({ title: `Change ${id ?? `answer ${number}`}`, words, but: label ?? "", action: "Change", extra: asSkipped ? [element("p", {}, asSkipped)] : [] });
  if (isSkipped) await changeAnswer(question, row, null);
  else if (name !== null && isAnswer) await changeAnswer(question, row, name);
  else if (name !== null) await labelRows([row], name);
}
