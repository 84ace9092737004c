/** A card of the grid: what the row looks like, its category, and how it got it. */

import { element } from "../dom.js";
import { glyph } from "../glyph.js";
import { thumbnail } from "../media.js";
import { categoryNamed } from "../store.js";
import { quoted, timeWords } from "../words.js";

/** @typedef {import("../types.js").ReviewRow} ReviewRow */

/**
 * How a status is called on a card, and before a category.
 * @type {Object<ReviewRow["status"], string>}
 */
const STATUS_WORDS = {
  hand: "labelled", accepted: "accepted", prior: "labelled before", unsure: "undecided", skipped: "skipped",
  suggested: "suggested", unlabelled: "no label",
};

const MOST_LETTERS = 14;

/**
 * An id that begins and ends as it does: neighbours in a catalogue often begin alike.
 * @param {string} id
 */
function shortened(id) {
  const letters = [...id];
  return letters.length <= MOST_LETTERS ? id : `${letters.slice(0, 5).join("")}…${letters.slice(-(MOST_LETTERS - 6)).join("")}`;
}

/** @param {number|null} probability */
export function probabilityWords(probability) {
  // Never 1.00 for what is not certain.
  return probability === null ? "" : Math.min(0.99, Math.floor(probability * 100) / 100).toFixed(2).replace(/^0/, "");
}

/**
 * Make the card of a row; of one that has not come yet, an empty one.
 * @param {ReviewRow|undefined} one
 * @param {boolean} isSelected
 */
export function reviewCard(one, isSelected) {
  const card = element("div", { class: "review-card", role: "option", "aria-selected": String(isSelected), "data-testid": "review-card" });
  if (!one) {
    card.setAttribute("aria-label", "Loading");
    card.append(element("span", { class: "thumb" }), element("span", { class: "caption" }, "…"));
    return card;
  }
  card.dataset.row = String(one.row);
  card.dataset.status = one.status;
  card.dataset.signature = signatureOf(one);
  // The whole id stands here; what the card shows is shortened.
  card.setAttribute("aria-label", wordsOf(one));
  card.title = titleOf(one);
  const name = one.label ?? one.suggested;
  const sign = one.is_flagged && element("span", { class: "review-sign flag" }, "⚑");
  const note = one.note !== null && element("span", { class: "review-sign" }, "✎");
  card.append(thumbnail(one.row),
    element("span", { class: "caption", "aria-hidden": "true" }, shortened(one.id)),
    element("span", { class: "caption review-category", "aria-hidden": "true" }, name !== null && glyph(categoryNamed(name)?.colour), element("span", {}, name ?? STATUS_WORDS[one.status]),
      element("small", {}, probabilityWords(one.probability))),
    element("span", { class: "caption review-doubt", "aria-hidden": "true" }, ...lastLine(one)),
    element("span", { class: "review-signs", "aria-hidden": "true" }, sign, note));
  return card;
}

/**
 * What a card shows, as a text that is another one when it has to be drawn anew.
 * @param {ReviewRow} one
 */
export function signatureOf(one) {
  return JSON.stringify(one);
}

/** @param {ReviewRow} one */
function lastLine({ status, looks_wrong: isWrong, other, other_probability: p }) {
  if (isWrong && other !== null) return [element("b", {}, `→ ${other} `), element("small", {}, probabilityWords(p))];
  return status === "suggested" || status === "hand" ? [] : [STATUS_WORDS[status]];
}

/** @param {ReviewRow} one */
function wordsOf(one) {
  const name = one.label ?? one.suggested;
  const said = name === null ? STATUS_WORDS[one.status] : `${STATUS_WORDS[one.status]} ${quoted(name)}`;
  const sure = one.probability === null ? "" : `, probability ${probabilityWords(one.probability)}`;
  const doubt = one.looks_wrong && one.other !== null ? `; it looks like ${quoted(one.other)}` : "";
  return `${one.id}: ${said}${sure}${doubt}${one.is_flagged ? "; flagged" : ""}${one.note === null ? "" : `; note: ${one.note}`}`;
}

/** @param {ReviewRow} one */
function titleOf(one) {
  const by = one.at === null ? "" : `\n${one.expert ?? "unnamed"}, ${timeWords(one.at)}`;
  return `${wordsOf(one)}${by}`;
}
