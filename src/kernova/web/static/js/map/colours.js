/** The choice of what the colours of the map mean. */

import { hasBatches } from "../batches.js";
import { element } from "../dom.js";
import { store } from "../store.js";
import { worded } from "../words.js";

/** @typedef {"labels"|"learnt"|"added"} Colour */

/**
 * Make the choice.
 * @param {(chosen: Colour) => void} onChoose
 */
export function colourSelect(onChoose) {
  const choose = () => onChoose(select.value === "learnt" || select.value === "added" ? select.value : "labels");
  const select = element("select", { "aria-label": "Map colours", class: "small", "data-testid": "map-colour", on: { change: choose } },
    element("option", { value: "labels" }, "by label"), element("option", { value: "learnt" }, "by prediction"), element("option", { value: "added" }, worded("rows added last")));
  return select;
}

/**
 * Offer the colours that there are; without a choice nothing is shown.
 * @param {HTMLSelectElement} select
 */
export function offerColours(select) {
  /** @type {Object<string, boolean>} */
  const has = { labels: true, learnt: store.state?.learn?.state === "ready", added: hasBatches() };
  for (const option of select.options) option.hidden = option.disabled = !has[option.value];
  select.hidden = !has.learnt && !has.added;
  if (!has[select.value]) select.value = "labels";
}
