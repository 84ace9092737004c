/** What can be downloaded. */

import { element } from "./dom.js";

/** Links to the labels and, once there is one, the model. */
export function downloadLinks({ hasModel = false } = {}) {
  /** @type {(name: string, words: string) => HTMLElement} */
  const link = (name, words) => element("a", { class: "button", href: `/api/downloads/${name}`, download: name, "data-testid": `download-${name}` }, words);
  return element("p", { class: "line downloads" }, link("labels.csv", "Labels as CSV"), link("labels.parquet", "Labels as Parquet"),
    hasModel && link("model.kernova", "Model for kernova recognize"));
}
