/** Learning from the answers so far: every other row then has a suggested category, with its probability. */

import { askUnknown, labelRows } from "./actions.js";
import { RequestError, get, messageOf, post } from "./api.js";
import { button, byId, element, fill } from "./dom.js";
import { downloadLinks } from "./downloads.js";
import { labelTag } from "./glyph.js";
import { thumbnail } from "./media.js";
import { askName } from "./naming.js";
import { goTo, isSeen, onShown } from "./router.js";
import { openRow } from "./row_dialog.js";
import { categoryNamed, listen, phase, refresh, store } from "./store.js";
import { forgetThreshold, suggestionControls } from "./suggestions.js";
import { counted, whole, worded } from "./words.js";

/** @typedef {import("./types.js").LearnReply} LearnReply */
/** @typedef {keyof import("./types.js").LearnCounts} Verdict */
/** @typedef {{name: string, title: string, write?: (value: unknown) => string}} Column */

/** @type {Verdict[]} */
const VERDICTS = ["known", "ambiguous", "unknown"];
const MEANINGS = {
  unknown: "unlike every labelled row",
  ambiguous: "suggestion less certain",
  known: "suggestion correct nine times out of ten",
};
const HINTS = {
  unknown: "Most unusual first.",
  ambiguous: "Most doubtful first. Select rows to label them together.",
  known: "Most probable first. Rows are not labelled automatically: select rows to label them.",
};
/** @param {unknown} value */
const percent = (value) => (typeof value === "number" ? `${Math.round(100 * value)} %` : "");
/** @param {unknown} value */
const count = (value) => (typeof value === "number" ? whole(value) : "");
/**
 * What is shown of a category; the model file holds more.
 * @type {Column[]}
 */
const COLUMNS = [
  { name: "class", title: "category" },
  { name: "rows", title: "labelled rows", write: count },
  { name: "recognized", title: "recognised correctly", write: percent },
  { name: "unknown", title: "unknown", write: percent },
  { name: "confused_with", title: "confused with" },
  { name: "claimed", title: "suggested for rows", write: count },
];
const PART = 60;
/** @type {ReturnType<typeof build>|null} */
let parts = null;
/** @type {Verdict} */
let verdict = "known";
let shownFor = "";
/** Whether the user asked for what is running; otherwise it is learnt again by itself, which changes nothing yet. */
let isWanted = false;

/** Build the view. */
export function startLearn() {
  onShown("learn", () => void show());
  listen(["state"], () => isSeen("learn") && void show());
}

function build() {
  const start = button("Learn from the answers", () => void learn(), { class: "primary", "data-testid": "learn" });
  const status = element("div", { class: "learn-status", role: "status", "data-testid": "learn-status" });
  const result = element("div", { class: "learn-result" });
  const downloads = element("div", { "data-testid": "downloads" });
  fill(byId("view-learn"),
    element("header", { class: "view-head" }, element("h1", { id: "learn-heading" }, "Learn"), start),
    element("p", { class: "lead" }, worded("What the categories look like is learnt from the labels given by hand, from the second one on, and again by itself when they change. Every unlabelled row then has a suggested category, with its probability; in the review, suggestions are accepted.")),
    status, result, element("h2", {}, "Downloads"), downloads);
  return { start, status, result, downloads };
}

async function learn() {
  try {
    await post("/api/learn", { expert: store.expert });
    forgetThreshold();
    shownFor = "";
    isWanted = true;
    await refresh();
    await show();
  } catch (error) {
    if (parts) fill(parts.status, element("p", { class: "problem" }, messageOf(error)));
  }
}

async function show() {
  parts ??= build();
  const learnt = await get("/api/learn").catch(nothingLearnt);
  const isRunning = learnt.state === "running";
  // How far it is changes without a new version of the state.
  if (isRunning) setTimeout(() => isSeen("learn") && void show(), 400);
  const hasModel = learnt.generation !== null;
  fill(parts.start, hasModel ? "Learn again" : "Learn from the answers");
  fill(parts.downloads, downloadLinks({ hasModel }));
  showStatus(learnt);
  if (!isRunning) isWanted = false;
  // What is ticked stays until it is labelled.
  if (parts.result.querySelector("input:checked")) return;
  const signature = JSON.stringify([hasModel, learnt.generation, learnt.state === "failed", store.state?.named, store.state?.skipped]);
  if (signature === shownFor) return;
  shownFor = signature;
  if (hasModel) await showResult(learnt);
  else fill(parts.result);
}

/**
 * What is shown where the server cannot be read.
 * @param {unknown} error
 * @returns {LearnReply}
 */
function nothingLearnt(error) {
  const message = error instanceof RequestError ? error.message : "";
  return { state: "none", message, task: "", done: 0, total: 0, left: "", summary: "", notes: [], classes: [], counts: null, n_labelled: 0, is_stale: false, generation: null, version: 0 };
}

/**
 * @param {string} task
 * @param {string} left
 */
function runningWords(task, left) {
  return `Learning${task ? `: ${task}` : ""}${left ? `, ${left}.` : " …"}`;
}

/** @param {LearnReply} learnt */
function showStatus({ state, message, done, total, task, left, is_stale: isStale, generation }) {
  if (!parts) return;
  if (state === "running" && (isWanted || generation === null)) {
    const bar = element("progress", { "aria-label": "Learning", "data-testid": "learn-bar", ...(total > 0 ? { max: total, value: done } : {}) });
    return void fill(parts.status, element("p", {}, message || runningWords(task, left)), bar);
  }
  if (isStale) return void fill(parts.status, element("p", { class: "hint", "data-testid": "learn-stale" }, "Labels have changed since then. They are learnt in a moment, or at once with “Learn again”."));
  fill(parts.status, message && element("p", { class: state === "failed" ? "problem" : "hint" }, worded(message)));
}

/** @param {LearnReply} learnt */
async function showResult(learnt) {
  if (!parts) return;
  const counts = learnt.counts ?? { known: 0, ambiguous: 0, unknown: 0 };
  const tabs = VERDICTS.map((name) => button([element("b", {}, whole(counts[name])), element("span", {}, name), element("small", {}, worded(MEANINGS[name]))],
    () => void choose(name), { class: "verdict", "aria-pressed": String(name === verdict), data: { verdict: name }, "data-testid": `verdict-${name}` }));
  const notes = learnt.notes.map((note) => element("li", {}, worded(note)));
  const rows = element("div", { class: "learn-rows", "data-testid": "learn-rows" });
  fill(parts.result, learnt.summary !== "" && element("p", {}, worded(learnt.summary)), notes.length > 0 && element("ul", { class: "notes" }, ...notes),
    element("div", { class: "verdicts", role: "group", "aria-label": worded("Unlabelled rows") }, ...tabs), rows, classTable(learnt.classes));
  /** @param {Verdict} name */
  const choose = async (name) => {
    verdict = name;
    for (const tab of tabs) tab.setAttribute("aria-pressed", String(tab.dataset.verdict === name));
    await showRows(rows, counts[name], learnt.classes.map((one) => String(one.class)));
  };
  await choose(verdict);
}

/**
 * @param {HTMLElement} box
 * @param {number} total
 * @param {string[]} names the categories that were learnt
 */
async function showRows(box, total, names) {
  /** @type {Set<number>} */
  const chosen = new Set();
  const list = element("ul", { class: "thumbs" });
  const name = button(worded("Label selected rows …"), () => void nameTicked(chosen), { disabled: true, "data-testid": "name-ticked" });
  const ask = verdict === "unknown" && total > 0 && phase() !== "preparing" && button("Ask me about these next", () => void askAndGo(), { class: "primary", "data-testid": "ask-unknown" });
  const more = button("Load more", () => void read(), { class: "small" });
  const isKnown = verdict === "known";
  /** @type {{threshold?: number, category?: string}} */
  let wish = {};
  // A reply that comes after the next choice is dropped.
  let turn = 0;
  /** @type {(row: number, isTicked: boolean) => void} */
  const tick = (row, isTicked) => {
    if (isTicked) chosen.add(row);
    else chosen.delete(row);
    name.disabled = chosen.size === 0;
    fill(name, chosen.size ? `Label ${counted(chosen.size, "row")} …` : worded("Label selected rows …"));
  };
  const read = async () => {
    const page = { limit: PART, offset: list.childElementCount };
    const asked = turn;
    const reply = await (isKnown ? get("/api/learn/suggestions", { ...wish, ...page }) : get("/api/learn/rows", { verdict, ...page }))
      .catch(() => ({ rows: [], total: 0 }));
    if (asked !== turn) return;
    const { rows, total: left } = reply;
    list.append(...rows.map((row) => learntItem(row, tick)));
    more.hidden = list.childElementCount >= left || rows.length === 0;
  };
  /** @type {(threshold: number, category: string|null) => void} */
  const choose = (threshold, category) => {
    wish = { threshold, ...(category === null ? {} : { category }) };
    turn += 1;
    for (const row of [...chosen]) tick(row, false);
    fill(list);
    void read();
  };
  const controls = isKnown && await suggestionControls(names, choose).catch(() => null);
  const hint = worded(total || isKnown ? HINTS[verdict] : `No rows are ${verdict}.`);
  fill(box, controls, element("div", { class: "line" }, ask, name), element("p", { class: "hint" }, hint), list, more);
  if (!isKnown) await read();
}

/**
 * @param {import("./types.js").LearntRow} learnt
 * @param {(row: number, isTicked: boolean) => void} onTick
 */
function learntItem({ row, id, suggested, probability, ranking }, onTick) {
  const box = element("input", { type: "checkbox", "aria-label": id });
  box.addEventListener("change", () => onTick(row, box.checked));
  const all = ranking.map((one) => `${one.category} ${one.probability.toFixed(2)}`).join(", ");
  const likely = suggested && element("span", { class: "caption", title: all }, labelTag(categoryNamed(suggested), suggested),
    probability !== null && element("small", {}, probability.toFixed(2)));
  return element("li", {}, element("label", { class: "tick" }, box, thumbnail(row), element("span", { class: "caption", title: id }, id), likely),
    button("⤢", () => void openRow(row), { class: "quiet look", "aria-label": `View ${id}`, title: "View" }));
}

/** @param {Set<number>} chosen */
async function nameTicked(chosen) {
  const name = await askName({ title: `Label ${counted(chosen.size, "row")}`, words: "A single undo reverses this." });
  if (name !== null) await labelRows([...chosen], name);
}

async function askAndGo() {
  await askUnknown();
  goTo("question");
}

/** @param {LearnReply["classes"]} classes */
function classTable(classes) {
  if (classes.length === 0) return null;
  /** @type {(one: Object<string, unknown>, column: Column, index: number) => HTMLElement} */
  const cell = (one, { name, write }, index) => element(index === 0 ? "th" : "td", index === 0 ? { scope: "row" } : { class: write ? "number" : null }, write ? write(one[name]) : String(one[name] ?? ""));
  /** @param {Object<string, unknown>} one */
  const line = (one) => element("tr", {}, ...COLUMNS.map((column, index) => cell(one, column, index)));
  return element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Results for each category" },
    element("table", {}, element("caption", {}, worded("Results for each category by cross-validation: each labelled row is judged by a model without it.")),
      element("thead", {}, element("tr", {}, ...COLUMNS.map(({ title }) => element("th", { scope: "col" }, worded(title))))),
      element("tbody", {}, ...classes.map(line))));
}
