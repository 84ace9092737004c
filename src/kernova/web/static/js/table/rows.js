/** Rows of the table in their order: read page by page, when they are needed. */

import { address, get, getNumbers, messageOf } from "../api.js";

/** @typedef {import("../types.js").TableLine} TableLine */
/** @typedef {import("../types.js").TableColumn} TableColumn */
/** @typedef {{sort: string, descending: "yes"|"no", find: string, within: string, status: string}} Query */

export const PAGE = 100;

/** What is asked for, and how many rows that leaves. */
export const asked = {
  /** @type {Query} */
  query: { sort: "", descending: "no", find: "", within: "", status: "" },
  /** @type {TableColumn[]} */
  columns: [],
  total: 0,
};
/** @type {Map<number, TableLine[]|Promise<void>>} */
const pages = new Map();
/** @type {Promise<Uint32Array>|null} */
let ordering = null;
/** Counts how often everything was forgotten: what was requested before does not count. */
let era = 0;

/** Forget all rows: the order, or labels, may have changed. */
export function forgetRows() {
  era += 1;
  pages.clear();
  ordering = null;
}

/** Give the columns whose values are sent. */
function wantedKeys() {
  return asked.columns.filter(({ kind }) => kind === "context" || kind === "feature").map(({ key }) => key).join(",");
}

/**
 * Read the page that a place of the order is on, once.
 * @param {number} index
 * @param {(problem: string) => void} tell
 * @returns {Promise<void>}
 */
export function readAt(index, tell) {
  const page = Math.floor(index / PAGE);
  const before = pages.get(page);
  if (before) return Array.isArray(before) ? Promise.resolve() : before;
  const now = era;
  const reading = get("/api/table/rows", { ...asked.query, columns: wantedKeys(), offset: page * PAGE, limit: PAGE }).then((reply) => {
    if (now !== era) return;
    pages.set(page, reply.lines);
    asked.total = reply.total;
    tell(reply.problem ?? "");
  }, (error) => {
    if (now !== era) return;
    pages.delete(page);
    tell(messageOf(error));
  });
  pages.set(page, reading);
  return reading;
}

/**
 * Whether the page of a place has been read, or requested.
 * @param {number} index
 */
export function isKnown(index) {
  return pages.has(Math.floor(index / PAGE));
}

/**
 * Give the line at a place, if it has been read.
 * @param {number} index
 */
export function lineAt(index) {
  const page = pages.get(Math.floor(index / PAGE));
  return Array.isArray(page) ? page[index % PAGE] : undefined;
}

/** The rows in their order, as far as the filter leaves them. */
export function rowOrder() {
  ordering ??= getNumbers(address("/api/table/order", { ...asked.query })).then(({ buffer }) => new Uint32Array(buffer));
  ordering.catch(() => (ordering = null));
  return ordering;
}
