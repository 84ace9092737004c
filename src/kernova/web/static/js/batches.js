/** Rows that were added to the project: how many look new, and how many of these were asked about. */

import { get } from "./api.js";
import { openDialog } from "./dialogs.js";
import { button, byId, element, fill } from "./dom.js";
import { thumbnail } from "./media.js";
import { openRow } from "./row_dialog.js";
import { listen, store } from "./store.js";
import { counted, whole, worded } from "./words.js";

/** @typedef {import("./types.js").Batch} Batch */

/** @type {Batch[]} the newest first */
let batches = [];
let readFor = "";

/** Show a line on the last batch, and keep its progress up to date. */
export function startBatches() {
  listen(["session", "state"], () => void read());
}

/** Whether rows were added to the project. */
export function hasBatches() {
  return batches.length > 0;
}

async function read() {
  if (!store.session || (readFor !== "" && batches.length === 0)) return;
  const key = String(store.state?.version ?? store.session.version);
  if (key === readFor) return;
  readFor = key;
  const reply = await get("/api/batches").catch(() => null);
  if (reply === null) return void (readFor = "");
  ({ batches } = reply);
  show();
}

function show() {
  const box = byId("batches");
  const last = batches.find(({ waiting }) => waiting > 0);
  box.hidden = last === undefined;
  if (last === undefined) return void fill(box);
  fill(box, element("span", {}, `${last.words} `), element("b", { "data-testid": "batch-progress" }, progressWords(last)), " ",
    button("View them", openBatches, { class: "small", "data-testid": "open-batches" }));
}

/** @param {Batch} batch */
function progressWords({ groups, waiting }) {
  return waiting === 0 ? "All of them were asked about." : `Asked first: ${whole(groups - waiting)} of ${counted(groups, "question")} about them answered.`;
}

/** Show all batches, and the rows of each that look new. */
export function openBatches() {
  const parts = batches.map((batch) => element("section", { data: { batch: String(batch.number) } },
    element("h3", {}, `Batch ${whole(batch.number)}${batch.source ? `: ${batch.source}` : ""}`),
    element("p", {}, `${counted(batch.rows, "row")} added on ${new Date(batch.at).toLocaleString()}. ${batch.words} ${batch.new > 0 ? progressWords(batch) : ""}`),
    batch.unlike.length > 0 && element("ul", { class: "thumbs", "aria-label": `Rows of batch ${whole(batch.number)} that look new, the most unusual first` }, ...batch.unlike.map(newRow)),
    batch.new > batch.unlike.length && element("p", { class: "hint" }, `The first ${whole(batch.unlike.length)} are shown.`)));
  openDialog(worded("New rows"), parts, { testid: "batches-dialog", isWide: true });
}

/** @param {Batch["unlike"][number]} one */
function newRow({ row, id, label, p_value: pValue, group }) {
  const words = [`p = ${pValue.toPrecision(2)}`, group > 0 && `group ${whole(group)}`, label].filter(Boolean).join(", ");
  return element("li", {}, thumbnail(row), element("span", { class: "caption", title: words }, id, element("small", {}, ` ${words}`)),
    button("⤢", () => void openRow(row), { class: "quiet look", "aria-label": `View ${id}`, title: "View" }));
}
