/** Learning from the answers so far: every other row is known, ambiguous or unknown then. */

import { askUnknown, labelRows } from "./actions.js";
import { Refusal, get, send } from "./api.js";
import { button, byId, element, fill } from "./dom.js";
import { downloadLinks } from "./downloads.js";
import { labelTag } from "./glyph.js";
import { thumbnail } from "./media.js";
import { askName } from "./naming.js";
import { goTo, isSeen, onShown } from "./router.js";
import { openRow } from "./row_dialog.js";
import { categoryNamed, listen, phase, refresh, store } from "./store.js";
import { counted, whole } from "./words.js";

const VERDICTS = ["unknown", "ambiguous", "known"];
const MEANINGS = {
  unknown: "unlike everything that was named",
  ambiguous: "like more than one category",
  known: "like one category",
};
const share = (value) => (typeof value === "number" ? `${Math.round(100 * value)} %` : "");
/** What people ask of a category; the model file holds more. */
const COLUMNS = [["class", "category"], ["rows", "answers", whole], ["recognized", "recognised rightly", share], ["unknown", "called unknown", share],
  ["confused_with", "taken for"], ["claimed", "other rows most like it", whole]];
const PART = 60;
let parts = null;
let verdict = null;
let shownFor = "";

/** Build the view. */
export function startLearn() {
  onShown("learn", () => void show());
  listen("state", () => isSeen("learn") && void show());
}

function build() {
  const start = button("Learn from the answers", () => void learn(), { class: "primary", "data-testid": "learn" });
  const status = element("div", { class: "learn-status", role: "status", "data-testid": "learn-status" });
  const result = element("div", { class: "learn-result" });
  const downloads = element("div", { "data-testid": "downloads" });
  fill(byId("view-learn"),
    element("header", { class: "view-head" }, element("h1", { id: "learn-heading" }, "Learn"), start),
    element("p", { class: "lead" }, "From the answers so far a description of each category is learnt. Every row without a name is then known, ambiguous or unknown."),
    status, result, element("h2", {}, "Take along"), downloads);
  return { start, status, result, downloads };
}

async function learn() {
  try {
    await send("POST", "/api/learn", { expert: store.expert });
    shownFor = "";
    await refresh();
    await show();
  } catch (error) {
    fill(parts.status, element("p", { class: "problem" }, error.message));
  }
}

async function show() {
  parts ??= build();
  const learnt = await get("/api/learn").catch((error) => ({ state: "none", message: error instanceof Refusal ? error.message : "" }));
  const isRunning = learnt.state === "running";
  // How far it is changes without a new version of the state.
  if (isRunning) setTimeout(() => isSeen("learn") && void show(), 400);
  parts.start.disabled = isRunning;
  fill(parts.start, learnt.state === "ready" ? "Learn again" : "Learn from the answers");
  fill(parts.downloads, downloadLinks({ hasModel: learnt.state === "ready" }));
  const signature = JSON.stringify([learnt, store.state?.version]);
  if (signature === shownFor) return;
  shownFor = signature;
  showStatus(learnt);
  if (learnt.state === "ready") await showResult(learnt);
  else fill(parts.result);
}

function showStatus({ state, message, done, total, task, is_stale: isStale }) {
  if (state === "running") {
    const bar = element("progress", { "aria-label": "Learning", "data-testid": "learn-bar", ...(total > 0 ? { max: total, value: done } : {}) });
    return void fill(parts.status, element("p", {}, message || task || "Learning …"), bar);
  }
  if (state === "ready" && isStale) return void fill(parts.status, element("p", { class: "hint", "data-testid": "learn-stale" }, "Something was said since: learn again to take it in."));
  fill(parts.status, message && element("p", { class: state === "failed" ? "problem" : "hint" }, message));
}

async function showResult(learnt) {
  // Unknown rows are what one learns for; without any, the next list that has some.
  if (!learnt.counts?.[verdict]) verdict = VERDICTS.find((name) => learnt.counts?.[name] > 0) ?? "unknown";
  const summary = [learnt.summary].flat().filter(Boolean).map((sentence) => element("p", {}, sentence));
  const tabs = VERDICTS.map((name) => button([element("b", {}, whole(learnt.counts?.[name] ?? 0)), element("span", {}, name), element("small", {}, MEANINGS[name])],
    () => void choose(name), { class: "verdict", "aria-pressed": String(name === verdict), data: { verdict: name }, "data-testid": `verdict-${name}` }));
  const notes = [learnt.notes ?? []].flat().map((note) => element("li", {}, note));
  const rows = element("div", { class: "learn-rows", "data-testid": "learn-rows" });
  fill(parts.result, ...summary, notes.length > 0 && element("ul", { class: "notes" }, ...notes),
    element("div", { class: "verdicts", role: "group", "aria-label": "Rows without a name" }, ...tabs), rows, classTable(learnt.classes));
  const choose = async (name) => {
    verdict = name;
    for (const tab of tabs) tab.setAttribute("aria-pressed", String(tab.dataset.verdict === name));
    await showRows(rows, learnt.counts?.[name] ?? 0);
  };
  await choose(verdict);
}

async function showRows(box, total) {
  const chosen = new Set();
  const list = element("ul", { class: "thumbs" });
  const name = button("Name those ticked …", () => void nameTicked(chosen), { disabled: true, "data-testid": "name-ticked" });
  const ask = verdict === "unknown" && total > 0 && phase() !== "preparing" && button("Ask me about these next", () => void askAndGo(), { class: "primary", "data-testid": "ask-unknown" });
  const more = button("Load more", () => void read(), { class: "small" });
  const tick = (row, isTicked) => {
    if (isTicked) chosen.add(row);
    else chosen.delete(row);
    name.disabled = chosen.size === 0;
    fill(name, chosen.size ? `Name ${counted(chosen.size, "row")} …` : "Name those ticked …");
  };
  const read = async () => {
    const shown = list.childElementCount;
    const reply = await get(`/api/learn/rows?verdict=${verdict}&limit=${PART}&offset=${shown}`).catch(() => ({ rows: [], total: 0 }));
    const { rows, total: left } = reply;
    list.append(...rows.map((row) => learntItem(row, tick)));
    more.hidden = list.childElementCount >= left || rows.length === 0;
  };
  const order = { unknown: "The strangest first.", ambiguous: "Tick rows to name them together.", known: "Nothing is written down for them: tick rows to name them." }[verdict];
  fill(box, element("div", { class: "line" }, ask, name), element("p", { class: "hint" }, total ? order : `No row is ${verdict}.`), list, more);
  await read();
}

function learntItem({ row, id, recognized, membership }, onTick) {
  const box = element("input", { type: "checkbox", "aria-label": id });
  box.addEventListener("change", () => onTick(row, box.checked));
  const likely = recognized && element("span", { class: "caption" }, labelTag(categoryNamed(recognized), recognized),
    membership !== null && membership !== undefined && element("small", { title: "membership" }, Number(membership).toFixed(2)));
  return element("li", {}, element("label", { class: "tick" }, box, thumbnail(row), element("span", { class: "caption", title: id }, id), likely),
    button("⤢", () => void openRow(row), { class: "quiet look", "aria-label": `Look at ${id}`, title: "Look at it" }));
}

async function nameTicked(chosen) {
  const name = await askName({ title: `Name ${counted(chosen.size, "row")} together`, words: "One undo takes it back." });
  if (name !== null) await labelRows([...chosen], name);
}

async function askAndGo() {
  await askUnknown();
  goTo("question");
}

function classTable(classes) {
  if (!Array.isArray(classes) || classes.length === 0) return null;
  const line = (one) => element("tr", {}, ...COLUMNS.map(([name, , write], place) => element(place === 0 ? "th" : "td", place === 0 ? { scope: "row" } : { class: write ? "number" : null }, write ? write(one[name]) : one[name] ?? "")));
  return element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "What was learnt of each category" },
    element("table", {}, element("caption", {}, "What was learnt of each category: its answers are judged one by one, as if each had not been given."),
      element("thead", {}, element("tr", {}, ...COLUMNS.map(([, words]) => element("th", { scope: "col" }, words)))),
      element("tbody", {}, ...classes.map(line))));
}
