/** Rows like given ones, up to the cut: to be looked at, and labelled together. */

import { answer, labelRows } from "./actions.js";
import { messageOf, post } from "./api.js";
import { openDialog } from "./dialogs.js";
import { button, element, fill, within } from "./dom.js";
import { thumbnail } from "./media.js";
import { askName } from "./naming.js";
import { openRow } from "./row_dialog.js";
import { playable } from "./sound.js";
import { store } from "./store.js";
import { counted, listed, whole, worded } from "./words.js";

/** @typedef {import("./types.js").AlikeReply} AlikeReply */

const MOST = 200;
const MOST_GIVEN = 1000;

/**
 * Show the unlabelled rows that are like some.
 * @param {number[]} rows
 */
export async function openAlike(rows) {
  const body = element("div", {}, element("p", { class: "hint", role: "status" }, worded("Searching all rows …")));
  const dialog = openDialog("More like this", [body], { testid: "alike-dialog", isWide: true });
  try {
    const reply = await post("/api/alike", { rows: rows.slice(0, MOST_GIVEN), limit: MOST });
    fill(within(dialog.node, "h2"), `More like ${givenWords(reply)}`);
    fill(body, ...alikeList(reply, dialog.close));
    body.querySelector("input")?.focus();
  } catch (error) {
    dialog.say(messageOf(error));
  }
}

/** @param {AlikeReply} reply */
function givenWords({ given }) {
  return listed(given.map(({ id }) => id), 2);
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
    element("ul", { class: "thumbs", "aria-label": `Rows like ${givenWords(reply)}, the most alike first` }, ...items.map(({ node }) => node)),
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
  playable(node, row, id);
  return { node, tick };
}

/**
 * Label rows; the row of the current question is labelled with them.
 * @param {AlikeReply} reply
 * @param {number[]} rows
 * @param {() => void} close
 */
async function nameChosen(reply, rows, close) {
  const { question } = store;
  const { row, label } = reply;
  const open = reply.given.filter((one) => one.label === null);
  const isAsked = question !== null && reply.given.length === 1 && question.row === row;
  const together = open.length > 0 ? `${listed(open.map(({ id }) => id), 2)} ${open.length > 1 ? "get" : "gets"} the same label. ` : "";
  const name = await askName({ title: `Label ${counted(rows.length, "row")}`, words: `${together}A single undo reverses this.`, value: label ?? "" });
  if (name === null) return;
  close();
  // The question may have been answered elsewhere while the name was typed.
  if (isAsked && store.question === question) await answer(question, name, rows);
  else await labelRows([...open.map((one) => one.row), ...rows], name);
}
