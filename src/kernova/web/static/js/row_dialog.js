/** One row, looked at out of turn: what it is, what was said about it, and a name for it. */

import { askNext, labelRows } from "./actions.js";
import { openDialog } from "./dialogs.js";
import { button, element, fill } from "./dom.js";
import { featureList } from "./features.js";
import { labelTag } from "./glyph.js";
import { largeMedia, readCard } from "./media.js";
import { askName } from "./naming.js";
import { goTo } from "./router.js";
import { categoryNamed, phase, store } from "./store.js";
import { quoted } from "./words.js";

/** Show a row over the page. */
export async function openRow(row) {
  const body = element("div", { class: "row-look" }, "…");
  const dialog = openDialog("Row", [body], { testid: "row-dialog", isWide: true });
  try {
    const card = await readCard(row);
    fill(dialog.node.querySelector("h2"), card.id);
    fill(body, rowHead(card, dialog), largeMedia(card), featureList(card.features));
    body.querySelector("button")?.focus();
  } catch (error) {
    dialog.say(error.message);
  }
}

/** Ask for a row's name, out of turn. */
export async function nameRow(card) {
  const words = card.label === null ? "It has no name yet." : `It is ${quoted(card.label)} so far.`;
  const name = await askName({ title: `What is ${card.id}?`, words, but: card.label ?? "" });
  return name === null ? null : labelRows([card.row], name);
}

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
  const canAsk = card.label === null && !isCurrent && (card.question ?? null) === null && phase() !== "preparing";
  return element("div", { class: "row-head" },
    element("p", {}, ...standing(card, isCurrent)), opinionsList(card.opinions),
    element("div", { class: "line" },
      button(isCurrent ? "Answer the question" : card.label === null ? "Name it" : "Name it anew", nameIt, { class: "primary", "data-testid": "name-row" }),
      canAsk && button("Ask me about it next", askIt, { "data-testid": "ask-row" })));
}

function standing({ label, question }, isCurrent) {
  if (isCurrent) return ["This is the question in hand."];
  const asked = question ? ` Question ${question} gave it.` : "";
  if (label === null || label === undefined) return [`It has no name yet.${question ? " It was skipped." : ""}`];
  return ["It is ", labelTag(categoryNamed(label), label), `.${asked}`];
}

function opinionsList(opinions) {
  if (opinions.length < 2) return null;
  return element("ul", { class: "opinions" }, ...opinions.map(({ expert, label }) => element("li", {}, `${expert || "unnamed"}: `, labelTag(categoryNamed(label), label))));
}
