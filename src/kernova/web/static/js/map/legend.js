/** What the colours of the map mean. */

import { element, fill } from "../dom.js";
import { glyph } from "../glyph.js";
import { AMBIGUOUS, NO_LABEL, SKIPPED, UNKNOWN } from "../row_labels.js";
import { whole } from "../words.js";

/**
 * Fill a list with the categories on the map, and how many rows have none.
 * @param {HTMLElement} list
 * @param {import("../types.js").Category[]} categories
 * @param {Uint16Array} labels
 * @param {boolean} [isOfBatch] whether crosses are rows of the last batch
 */
export function showLegend(list, categories, labels, isOfBatch = false) {
  /** @type {Map<number, number>} */
  const counts = new Map();
  for (const label of labels) counts.set(label, (counts.get(label) ?? 0) + 1);
  /** @type {(sign: Node, words: string, count: number|undefined) => HTMLElement} */
  const line = (sign, words, count) => element("li", {}, sign, element("span", {}, words), element("small", {}, whole(count ?? 0)));
  /** @param {string} kind */
  const cross = (kind) => element("span", { class: `cross-sign ${kind}`, "aria-hidden": "true" }, "×");
  fill(list,
    ...categories.map(({ name, colour }, index) => line(glyph(colour), name, counts.get(index + 1))),
    counts.has(NO_LABEL) && line(glyph(null), "unlabelled", counts.get(NO_LABEL)),
    counts.has(SKIPPED) && line(cross("skipped"), "skipped", counts.get(SKIPPED)),
    counts.has(AMBIGUOUS) && line(cross("ambiguous"), isOfBatch ? "added last" : "ambiguous", counts.get(AMBIGUOUS)),
    counts.has(UNKNOWN) && line(cross("unknown"), isOfBatch ? "added last, looks new" : "unknown", counts.get(UNKNOWN)));
}
