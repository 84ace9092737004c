/** Ways on where the last step cannot be undone by itself, because a colleague has built on it. */

import { changeAnswer, labelRows, undoEntry } from "../actions.js";
import { get } from "../api.js";
import { openDialog } from "../dialogs.js";
import { button, element } from "../dom.js";
import { askName } from "../naming.js";
import { store } from "../store.js";
import { counted, quoted, worded } from "../words.js";

/** @typedef {import("../types.js").UndoReply} Ways */

/** Show why the last step cannot be undone, and what can be done, each with one click. */
export async function offerWaysOn() {
  const ways = await get("/api/undo", { expert: store.expert || undefined }).catch(() => null);
  if (!ways?.last || !ways.words) return;
  /** @type {() => void} */
  let close = () => {};
  /** @type {(act: () => unknown) => () => void} */
  const closing = (act) => () => {
    close();
    act();
  };
  const { others, earlier, last, row } = ways;
  const numbers = others.map(({ number }) => number);
  const ask = openDialog("This step cannot be undone by itself", [
    element("p", { "data-testid": "undo-words" }, ways.words),
    element("ul", { class: "undo-others", "data-testid": "undo-others" }, ...others.map((one) =>
      element("li", {}, element("b", {}, one.by || "unnamed"), ` (entry ${one.number}): ${one.words}`))),
    element("div", { class: "ways" },
      row !== null && way("Change your answer …", `${ways.id} gets another label, and the later steps stay.`, closing(() => void change(ways)), "undo-change", true),
      row !== null && ways.question !== null && ways.label !== null && way(worded("Mark the row as skipped"), "It loses its label, and the later steps stay.", closing(() => void changeAnswer(Number(ways.question), row, null)), "undo-skip"),
      earlier && way("Undo your step before it", earlier.words, closing(() => void undoEntry(earlier.number)), "undo-earlier"),
      way(`Undo your step and ${others.length === 1 ? "the later one" : `all ${counted(others.length, "later step")}`}`, othersWords(others), closing(() => void undoEntry(last.number, numbers)), "undo-all")),
  ], { testid: "undo-ways" });
  close = ask.close;
  const first = ask.node.querySelector("button.way");
  if (first instanceof HTMLElement) first.focus();
}

/**
 * @param {string} title
 * @param {string} words what it leads to
 * @param {() => void} act
 * @param {string} testid
 * @param {boolean} [isFirst]
 */
function way(title, words, act, testid, isFirst = false) {
  return button([element("b", {}, title), element("small", {}, words)], act, { class: isFirst ? "way primary" : "way", "data-testid": testid });
}

/** @param {import("../types.js").UndoEntry[]} others */
function othersWords(others) {
  const names = [...new Set(others.map(({ by }) => by || "an unnamed expert"))].filter((name) => name !== store.expert);
  return names.length > 0 ? `This also takes back what ${names.join(" and ")} did; the history shows who undid it.` : "All of them are your own steps.";
}

/** @param {Ways} ways */
async function change({ row, id, label, question }) {
  const words = label ? `Current label: ${quoted(label)}.` : "Currently without label.";
  const name = await askName({ title: `Change ${id}`, words, but: label ?? "", action: "Change" });
  if (name === null || row === null) return;
  await (question === null ? labelRows([row], name) : changeAnswer(question, row, name));
}
