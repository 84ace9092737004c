/** The label of every row, as numbers: read on demand, once for each version of the state. */

import { getNumbers } from "./api.js";
import { store } from "./store.js";

/** @typedef {{labels: Uint16Array<ArrayBuffer>, version: number}} RowLabels */

export const NO_LABEL = 0;
export const SKIPPED = 65535;
export const AMBIGUOUS = 65534;
export const UNKNOWN = 65533;

/** @type {Map<string, {version: string, promise: Promise<RowLabels>}>} */
const read = new Map();

/**
 * Give a number for each row: 0 unlabelled, 1 + the index of its category, 65535 skipped.
 * @param {"labels"|"learnt"|"added"|"accepted"} colour as answered, as predicted by the learnt model, or with the last batch of new rows; or 1 for accepted
 *   suggestions
 * @returns {Promise<RowLabels>}
 */
export function rowLabels(colour = "labels") {
  const version = `${store.state?.version} ${store.state?.learn?.version ?? ""}`;
  const before = read.get(colour);
  if (before?.version === version) return before.promise;
  const promise = getNumbers(`/api/map/labels${colour === "labels" ? "" : `?colour=${colour}`}`).then(({ buffer, version: got }) => ({ labels: new Uint16Array(buffer), version: got }));
  promise.catch(() => read.delete(colour));
  read.set(colour, { version, promise });
  return promise;
}

/**
 * Give the rows of a category by its index, at most so many.
 * @param {Uint16Array} labels
 * @param {number} index
 * @param {number} most
 */
export function rowsAt(labels, index, most) {
  /** @type {number[]} */
  const rows = [];
  for (let row = labels.indexOf(index + 1); row >= 0 && rows.length < most; row = labels.indexOf(index + 1, row + 1)) rows.push(row);
  return rows;
}
