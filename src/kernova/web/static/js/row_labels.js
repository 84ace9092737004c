/** The label of every row, as numbers: read when somebody needs them, once for each version of the state. */

import { getNumbers } from "./api.js";
import { store } from "./store.js";

export const NO_LABEL = 0;
export const SKIPPED = 65535;
export const AMBIGUOUS = 65534;
export const UNKNOWN = 65533;

const read = new Map();

/**
 * Give a number for each row: 0 none, 1 + its place among the categories, 65535 skipped.
 * @param {"labels"|"learnt"} colour as answered, or as learnt
 * @returns {Promise<{labels: Uint16Array, version: number}>}
 */
export function rowLabels(colour = "labels") {
  const version = `${store.state?.version} ${store.state?.learn?.version ?? ""}`;
  const before = read.get(colour);
  if (before?.version === version) return before.promise;
  const promise = getNumbers(`/api/map/labels${colour === "learnt" ? "?colour=learnt" : ""}`).then(({ buffer, version: got }) => ({ labels: new Uint16Array(buffer), version: got }));
  promise.catch(() => read.delete(colour));
  read.set(colour, { version, promise });
  return promise;
}

/** Give the rows of a category by its place, at most so many. */
export function rowsAt(labels, place, most) {
  const rows = [];
  for (let row = labels.indexOf(place + 1); row >= 0 && rows.length < most; row = labels.indexOf(place + 1, row + 1)) rows.push(row);
  return rows;
}
