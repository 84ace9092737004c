/** Rows like a given one, up to the cut: to be looked at, and labelled together. */

import { answer, labelRows } from "./actions.js";
import { get, messageOf } from "./api.js";
import { openDialog } from "./dialogs.js";
import { button, element, fill, within } from "./dom.js";
import { thumbnail } from "./media.js";
import { askName } from "./naming.js";
import { openRow } from "./row_dialog.js";
import { store } from "./store.js";
import { counted, whole, worded } from "./words.js";

/** @typedef {import("./types.js").AlikeReply} AlikeReply */

const MOST = 200;

/**
 * Show the unlabelled rows that are like a row.
 * @param {number} row
 */
export async function openAlike(row) {
  const body = element("div", {}, element("p", { class: "hint", role: "status" }, "Searching all rows …"));
  const dialog = openDialog("More like this", [body], { testid: "alike-dialog", isWide: true });
  try {
    const reply = await get("/api/rows/{row}/alike", { row, limit: MOST });
    fill(within(dialog.node, "h2"), `More like ${reply.id}`);
    fill(body, ...alikeList(reply, dialog.close));
    body.querySelector("input")?.focus();
  } catch (error) {
    dialog.say(messageOf(error));
  }
}

/**
 * @param {AlikeReply} reply
 * @param {() => void} close
 */
function alikeList(reply, close) {
  /** @type {Set<number>} */
  const chosen = new Set();
  const name = button(worded("Label selected rows …"), () => void nameChosen(reply, [...chosen], close), { class: "primary", disabled: true, "data-testid": "name-alike" });
  const items = reply.rows.map((one) => alikeItem(one, (isTicked) => {
    if (isTicked) chosen.add(one.row);
    else chosen.delete(one.row);
    name.disabled = chosen.size === 0;
    fill(name, chosen.size ? `Label ${counted(chosen.size, "row")} …` : worded("Label selected rows …"));
  }));
  const all = button("Select all", () => items.forEach(({ tick }) => tick()), { class: "small", "data-testid": "select-alike" });
  const more = reply.total > reply.rows.length ? ` The first ${whole(reply.rows.length)} are shown.` : "";
  return [
    element("p", { class: "hint", "data-testid": "alike-words" }, worded(reply.words) + more),
    items.length > 0 && element("div", { class: "line" }, name, all),
    element("ul", { class: "thumbs", "aria-label": `Rows like ${reply.id}, the most alike first` }, ...items.map(({ node }) => node)),
  ];
}

/**
 * @param {AlikeReply["rows"][number]} one
 * @param {(isTicked: boolean) => void} onTick
 */
function alikeItem({ row, id, likeness }, onTick) {
  const box = element("input", { type: "checkbox", "aria-label": id });
  box.addEventListener("change", () => onTick(box.checked));
  const tick = () => {
    box.checked = true;
    onTick(true);
  };
  const node = element("li", {}, element("label", { class: "tick" }, box, thumbnail(row), element("span", { class: "caption", title: `Likeness ${likeness.toFixed(2)}` }, id)),
    button("⤢", () => void openRow(row), { class: "quiet look", "aria-label": `View ${id}`, title: "View" }));
  return { node, tick };
}

/**
 * Label rows; the row of the current question is labelled with them.
 * @param {AlikeReply} reply
 * @param {number[]} rows
 * @param {() => void} close
 */
async function nameChosen({ row, id, label }, rows, close) {
  const { question } = store;
  const isAsked = question !== null && question.row === row;
  const together = label === null ? `${id} gets the same label. ` : "";
  const name = await askName({ title: `Label ${counted(rows.length, "row")}`, words: `${together}A single undo reverses this.`, value: label ?? "" });
  if (name === null) return;
  close();
  // The question may have been answered elsewhere while the name was typed.
  if (isAsked && store.question === question) await answer(question, name, rows);
  else await labelRows(label === null ? [row, ...rows] : rows, name);
}
