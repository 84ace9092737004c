/** Names that are nearly the same: suggested to the expert, never decided. */

/**
 * Give known names that a new one may have meant: other capitals, spaces or punctuation, a typing error, a beginning.
 * @param {string} typed
 * @param {string[]} known
 * @returns {string[]} the nearest first; empty where exactly this name is known
 */
export function nearNames(typed, known) {
  if (known.includes(typed)) return [];
  const near = known
    .map((name) => ({ name, gap: gapBetween(typed, name) }))
    .filter(({ gap }) => Number.isFinite(gap));
  return near.sort((a, b) => a.gap - b.gap).map(({ name }) => name);
}

/**
 * Give the known names that match what was typed so far, best first.
 * @param {string} typed
 * @param {string[]} known
 */
export function matchingNames(typed, known) {
  const wanted = plain(typed);
  if (!wanted) return known;
  const ranked = known.map((name) => ({ name, rank: rankOf(wanted, name) }));
  return ranked.filter(({ rank }) => rank < 4).sort((a, b) => a.rank - b.rank).map(({ name }) => name);
}

/**
 * @param {string} wanted
 * @param {string} name
 */
function rankOf(wanted, name) {
  const there = plain(name);
  if (there === wanted) return 0;
  if (there.startsWith(wanted)) return 1;
  if (there.includes(wanted)) return 2;
  return Number.isFinite(gapBetween(wanted, name)) ? 3 : 4;
}

/**
 * @param {string} typed
 * @param {string} name
 */
function gapBetween(typed, name) {
  const [a, b] = [plain(typed), plain(name)];
  if (a === b) return 0;
  if (!a || !b || differOnlyInNumbers(a, b)) return Infinity;
  if (a.length >= 2 && b.startsWith(a)) return 0.5;
  const slips = editDistance(a, b);
  const allowed = slipsAllowed(Math.min(a.length, b.length));
  return slips <= allowed ? slips : Infinity;
}

/**
 * A typing error turns a short name into another word; a long one likely stays the same.
 * @param {number} length
 */
function slipsAllowed(length) {
  if (length <= 2) return 0;
  return length <= 5 ? 1 : 2;
}

/**
 * "type 1" and "type 2" are two names, not one mistyped.
 * @param {string} a
 * @param {string} b
 */
function differOnlyInNumbers(a, b) {
  /** @param {string} text */
  const bare = (text) => text.replace(/\d+/g, "#");
  return /\d/.test(a + b) && bare(a) === bare(b);
}

/**
 * The name without what is typed differently: capitals, spaces, hyphens, dots, accents.
 * @param {string} name
 */
function plain(name) {
  return name.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase().replace(/[\s_.\-]+/g, "");
}

/**
 * How many letters must be inserted, deleted, changed or swapped with a neighbour.
 * @param {string} a
 * @param {string} b
 */
export function editDistance(a, b) {
  /** @type {number[]} */
  let before = [];
  let above = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const isSame = a[i - 1] === b[j - 1];
      row[j] = Math.min(above[j] + 1, row[j - 1] + 1, above[j - 1] + (isSame ? 0 : 1));
      const isSwap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      if (isSwap) row[j] = Math.min(row[j], before[j - 2] + 1);
    }
    [before, above] = [above, row];
  }
  return above[b.length];
}
