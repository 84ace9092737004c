/** Which rows are selected: some by their numbers, or all that match. */

const MOST_ROWS = 100_000;

/**
 * Make a selection.
 * @param {() => import("./listing.js").Listing} listing
 * @param {() => void} onChange
 */
export function makeSelection(listing, onChange) {
  /** @type {Set<number>} */
  let rows = new Set();
  let isAll = false;
  /** Rows that were selected before the present range was drawn; null outside of one. */
  /** @type {Set<number>|null} */
  let before = null;

  /** Give all rows by their numbers, so that one of them can be left out. */
  async function spellOut() {
    if (!isAll) return true;
    if (listing().total() > MOST_ROWS) return false;
    rows = new Set(await listing().numbers(0, listing().total() - 1));
    isAll = false;
    return true;
  }

  return {
    /** @param {number} row */
    has: (row) => isAll || rows.has(row),
    count: () => (isAll ? listing().total() : rows.size),
    isAll: () => isAll,
    clear() {
      rows = new Set();
      isAll = false;
      before = null;
      onChange();
    },
    all() {
      isAll = listing().total() > 0;
      rows = new Set();
      onChange();
    },
    /** @param {number} row */
    async toggle(row) {
      before = null;
      if (!(await spellOut())) return;
      if (!rows.delete(row)) rows.add(row);
      onChange();
    },
    /** The next ranges are drawn over what is selected now. */
    hold({ keep = true } = {}) {
      if (isAll) return;
      before = keep ? new Set(rows) : new Set();
    },
    /**
     * Select these rows beside those that were held.
     * @param {Iterable<number>} some
     */
    extend(some) {
      if (isAll) return;
      before ??= new Set(rows);
      rows = new Set([...before, ...some]);
      onChange();
    },
    /**
     * What a request says of it.
     * @returns {{rows?: number[], query?: import("../types.js").RowQuery, count?: number, learnt: number|null}}
     */
    asked() {
      const learnt = listing().learnt();
      return isAll ? { query: listing().query(), count: listing().total(), learnt } : { rows: [...rows], learnt };
    },
    rows: () => [...rows],
  };
}

/** @typedef {ReturnType<typeof makeSelection>} Selection */
