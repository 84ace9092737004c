/** The rows that match a query: read in pages when they are needed, in an order that stays while others label. */

import { RequestError, Unreachable, post } from "../api.js";

/** @typedef {import("../types.js").RowQuery} RowQuery */
/** @typedef {import("../types.js").ReviewRow} ReviewRow */

const PAGE = 100;
/** Pages that are kept; others are read again. */
const MOST_PAGES = 60;
const MOST_NUMBERS = 100_000;

/**
 * Make an empty list.
 * @param {() => void} onRead called when rows have come, or the number of rows has changed
 * @param {(error: unknown) => void} onFailed
 */
export function makeListing(onRead, onFailed) {
  /** @type {RowQuery} */
  let query = {};
  let turn = 0;
  let total = 0;
  /** @type {number|null} */
  let entries = null;
  /** @type {number|null} */
  let learnt = null;
  /** @type {number|null} */
  let newest = null;
  let isRead = false;
  /** @type {Map<number, ReviewRow[]>} */
  const pages = new Map();
  /** @type {Set<number>} */
  const reading = new Set();

  /** @param {number} page */
  async function read(page) {
    if (reading.has(page)) return;
    reading.add(page);
    const asked = turn;
    try {
      const reply = await post("/api/review/rows", { query, offset: page * PAGE, limit: PAGE, entries, learnt });
      if (asked !== turn) return;
      take(page, reply);
      onRead();
    } catch (error) {
      if (!(error instanceof RequestError) && !(error instanceof Unreachable)) throw error;
      if (asked === turn) onFailed(error);
    } finally {
      if (asked === turn) reading.delete(page);
    }
  }

  /**
   * @param {number} page
   * @param {import("../types.js").ReviewPage} reply
   */
  function take(page, reply) {
    const isSameOrder = !isRead || (reply.entries === entries && reply.learnt === learnt);
    // The server knows the order no longer: what was read is of another one.
    if (!isSameOrder) pages.clear();
    ({ total, entries, learnt, newest } = reply);
    isRead = true;
    if (pages.size >= MOST_PAGES) pages.delete([...pages.keys()][0]);
    pages.set(page, reply.rows);
  }

  return {
    /** How many rows match. */
    total: () => total,
    /** Whether the first page has come. */
    isRead: () => isRead,
    /** The run of learning that the suggestions are from. */
    learnt: () => learnt,
    /** Whether it has been learnt again since. */
    isOld: () => isRead && newest !== learnt,
    query: () => query,
    /**
     * Begin anew with a query, or with the same one in the order of now.
     * @param {RowQuery} wanted
     * @param {number} around a place that will be shown
     * @param {number|null} run of learning, whose suggestions are listed
     */
    async begin(wanted, around, run) {
      query = wanted;
      turn += 1;
      reading.clear();
      pages.clear();
      entries = null;
      learnt = run;
      isRead = false;
      await read(Math.floor(around / PAGE));
    },
    /** Read the rows again, in the order that they have. */
    async again() {
      const known = [...pages.keys()];
      reading.clear();
      turn += 1;
      await Promise.all(known.slice(-3).map(read));
      for (const page of known.slice(0, -3)) pages.delete(page);
    },
    /**
     * The row at a place; undefined if it has not come yet.
     * @param {number} place
     */
    at: (place) => pages.get(Math.floor(place / PAGE))?.[place % PAGE],
    /**
     * Read the rows at these places, if they are not there yet.
     * @param {number} from
     * @param {number} to
     */
    need(from, to) {
      for (let page = Math.floor(Math.max(0, from) / PAGE); page <= Math.floor(Math.min(to, total - 1) / PAGE); page += 1) {
        if (!pages.has(page)) void read(page);
      }
    },
    /**
     * The row numbers from a place to another, both included.
     * @param {number} from
     * @param {number} to
     * @returns {Promise<number[]>}
     */
    async numbers(from, to) {
      const places = Array.from({ length: to - from + 1 }, (_, step) => this.at(from + step)?.row);
      if (places.every((row) => row !== undefined)) return /** @type {number[]} */ (places);
      const reply = await post("/api/review/numbers", { query, offset: from, limit: Math.min(to - from + 1, MOST_NUMBERS), entries, learnt });
      return reply.rows;
    },
  };
}

/** @typedef {ReturnType<typeof makeListing>} Listing */
