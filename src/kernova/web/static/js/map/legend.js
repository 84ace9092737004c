/** What the colours of the map mean. */

import { element, fill } from "../dom.js";
import { glyph } from "../glyph.js";
import { NO_LABEL, SKIPPED } from "../row_labels.js";
import { whole } from "../words.js";

/** Fill a list with the categories on the map, and how many rows have none. */
export function showLegend(list, categories, labels) {
  const counts = new Map();
  for (const label of labels) counts.set(label, (counts.get(label) ?? 0) + 1);
  const line = (sign, words, count) => element("li", {}, sign, element("span", {}, words), element("small", {}, whole(count ?? 0)));
  const others = [...counts].filter(([label]) => label > categories.length && label !== SKIPPED).reduce((sum, [, count]) => sum + count, 0);
  fill(list,
    ...categories.map(({ name, colour }, place) => line(glyph(colour), name, counts.get(place + 1))),
    line(glyph(null), "no name yet", counts.get(NO_LABEL)),
    counts.has(SKIPPED) && line(element("span", { class: "cross-sign", "aria-hidden": "true" }, "×"), "skipped", counts.get(SKIPPED)),
    others > 0 && line(element("span", { class: "cross-sign unknown", "aria-hidden": "true" }, "×"), "ambiguous or unknown", others));
}
