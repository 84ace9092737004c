/** A single row, outside a question: what it is, how experts labelled it, and a label for it. */

import { askNext, labelRows, markUnsure } from "./actions.js";
import { messageOf } from "./api.js";
import { openDialog } from "./dialogs.js";
import { button, element, fill, within } from "./dom.js";
import { openExamples } from "./compare.js";
import { contextList } from "./context.js";
import { featureList } from "./features.js";
import { labelTag } from "./glyph.js";
import { largeMedia, readCard } from "./media.js";
import { openAlike } from "./more_like.js";
import { askName } from "./naming.js";
import { addTag, confidenceChoice, editNote, showRemarks, toggleFlag } from "./remarks.js";
import { goTo } from "./router.js";
import { categoryNamed, phase, store } from "./store.js";
import { quoted, worded } from "./words.js";

/** @typedef {import("./types.js").Card} Card */

/**
 * Show a row over the page.
 * @param {number} row
 */
export async function openRow(row) {
  const body = element("div", { class: "row-look" }, "…");
  const dialog = openDialog(worded("Row"), [body], { testid: "row-dialog", isWide: true });
  try {
    const card = await readCard(row);
    fill(within(dialog.node, "h2"), card.id);
    fill(body, rowHead(card, dialog), largeMedia(card), contextList(card), featureList(card));
    body.querySelector("button")?.focus();
  } catch (error) {
    dialog.say(messageOf(error));
  }
}

/**
 * Ask for a row's label, outside a question.
 * @param {Card} card
 */
async function nameRow(card) {
  const words = card.label === null ? "Not labelled yet." : `Current label: ${quoted(card.label)}.`;
  const confidence = confidenceChoice();
  const name = await askName({ title: `What is ${card.id}?`, words, but: card.label ?? "", extra: [confidence.node] });
  return name === null ? null : labelRows([card.row], name, confidence.value());
}

/**
 * @param {Card} card
 * @param {{close: () => void}} dialog
 */
function rowHead(card, dialog) {
  const isCurrent = store.question?.row === card.row;
  const nameIt = async () => {
    dialog.close();
    if (isCurrent) goTo("question");
    else await nameRow(card);
  };
  const askIt = async () => {
    dialog.close();
    await askNext({ row: card.row });
    goTo("question");
  };
  const leaveUndecided = async () => {
    dialog.close();
    await markUnsure({ rows: [card.row] }, 1);
  };
  const canAsk = card.label === null && !isCurrent && card.question === null && phase() !== "preparing";
  const remarks = element("p", { class: "remarks-line", "data-testid": "row-remarks" });
  const flag = button("", async () => (await toggleFlag(card), showNoted()), { "data-testid": "row-flag" });
  const showNoted = () => {
    showRemarks(remarks, card, showNoted);
    fill(flag, card.is_flagged ? "Remove the flag" : "Flag");
    fill(note, card.note === null ? "Note …" : "Change the note …");
  };
  const note = button("", async () => (await editNote(card), showNoted()), { "data-testid": "row-note" });
  showNoted();
  return element("div", { class: "row-head" },
    element("p", {}, ...standing(card, isCurrent)), remarks, opinionsList(card.opinions),
    element("div", { class: "line" },
      button(isCurrent ? "Answer the question" : card.label === null ? "Label it" : "Change the label", nameIt, { class: "primary", "data-testid": "name-row" }),
      canAsk && button("Ask me about it next", askIt, { "data-testid": "ask-row" }),
      button("More like this", () => void openAlike([card.row]), { "data-testid": "more-like" }),
      button("Compare", () => void openExamples(card.row), { "data-testid": "compare-row" }), note, flag,
      !isCurrent && card.status !== "unsure" && button("Unsure", leaveUndecided, { "data-testid": "row-unsure", title: "It cannot be decided: it loses its label, if it has one" }),
      store.state?.has_further_labels && button("Also …", async () => (await addTag(card), showNoted()), { "data-testid": "row-also" })));
}

/**
 * @param {Card} card
 * @param {boolean} isCurrent
 * @returns {(Node|string)[]}
 */
function standing({ label, question, status }, isCurrent) {
  if (isCurrent) return ["This is the current question."];
  if (status === "unsure") return ["Left undecided."];
  if (label === null) return [`Not labelled yet.${question ? " It was skipped." : ""}`];
  return ["It is ", labelTag(categoryNamed(label), label), question ? `, labelled in question ${question}.` : "."];
}

/** @param {import("./types.js").Opinion[]} opinions */
function opinionsList(opinions) {
  if (opinions.length < 2) return null;
  return element("ul", { class: "opinions" }, ...opinions.map(({ expert, label }) => element("li", {}, `${expert || "unnamed"}: `, labelTag(categoryNamed(label), label))));
}
