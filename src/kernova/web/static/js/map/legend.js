/** What the colours of the map mean. */

import { underHeadings } from "../answers.js";
import { element, fill } from "../dom.js";
import { glyph } from "../glyph.js";
import { AMBIGUOUS, NO_LABEL, SKIPPED, UNKNOWN } from "../row_labels.js";
import { counted, whole } from "../words.js";
import { countsOf } from "./point_styles.js";

const MOST_SHOWN = 60;

/**
 * Fill a list with the categories on the map, and how many rows have none.
 * @param {HTMLElement} list
 * @param {import("../types.js").Category[]} categories
 * @param {Uint16Array} labels
 * @param {{isOfBatch?: boolean, nAccepted?: number}} [options] whether crosses are rows of the last batch, and how many rows have an accepted
 *   suggestion, where they are drawn fainter
 */
export function showLegend(list, categories, labels, { isOfBatch = false, nAccepted = 0 } = {}) {
  const counts = countsOf(labels);
  /** @type {(sign: Node, words: string, count: number|undefined) => HTMLElement} */
  const line = (sign, words, count) => element("li", {}, sign, element("span", {}, words), element("small", {}, whole(count ?? 0)));
  /** @param {string} kind */
  const cross = (kind) => element("span", { class: `cross-sign ${kind}`, "aria-hidden": "true" }, "×");
  const left = categories.length - MOST_SHOWN;
  const numbers = new Map(categories.map(({ name }, index) => [name, index + 1]));
  fill(list,
    ...underHeadings(categories.slice(0, MOST_SHOWN)).flatMap(({ heading, members }) => [
      heading !== null && element("li", { class: "legend-heading" }, heading),
      ...members.map(({ name, colour }) => line(glyph(colour), name, counts.get(numbers.get(name) ?? 0))),
    ]),
    left > 0 && element("li", {}, `and ${counted(left, "category", "categories")} more`),
    nAccepted > 0 && line(element("span", { class: "faint-sign", "aria-hidden": "true" }, "●"), "fainter: accepted", nAccepted),
    counts.has(NO_LABEL) && line(glyph(null), "unlabelled", counts.get(NO_LABEL)),
    counts.has(SKIPPED) && line(cross("skipped"), "skipped", counts.get(SKIPPED)),
    counts.has(AMBIGUOUS) && line(cross("ambiguous"), isOfBatch ? "added last" : "ambiguous", counts.get(AMBIGUOUS)),
    counts.has(UNKNOWN) && line(cross("unknown"), isOfBatch ? "added last, looks new" : "unknown", counts.get(UNKNOWN)));
}
