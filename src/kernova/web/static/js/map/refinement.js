/** Points on their way from an earlier map to a better one, in place: what is looked at stays in view. */

const DURATION_MS = 900;

/** @typedef {Float32Array<ArrayBuffer>} Points x and y in turn, between -1 and 1 */

/** Where every row lies now. */
export class Refinement {
  constructor() {
    /** @type {Points} */
    this.from = new Float32Array();
    /** @type {Points} */
    this.to = new Float32Array();
    this.began = -Infinity;
    /** How far the points are: 0 to 1. */
    this.moved = 1;
    /** The row that stays where it is on the screen, or -1. */
    this.anchor = -1;
    /** Where the anchor lay at the last step. @type {[number, number]} */
    this.last = [0, 0];
  }

  /** Number of rows. */
  get rows() {
    return this.to.length / 2;
  }

  /**
   * Move to other points, from where they are now; at once where there were none, or motion is not wanted.
   * @param {Points} points
   * @param {number} anchor
   */
  begin(points, anchor) {
    this.last = this.at(anchor);
    const isAnimated = points.length === this.to.length && points.length > 0 && !matchMedia("(prefers-reduced-motion: reduce)").matches;
    this.from = isAnimated ? this.present() : points;
    this.to = points;
    this.anchor = anchor;
    this.began = performance.now();
    this.moved = isAnimated ? 0 : 1;
  }

  /**
   * Bring the positions up to date; returns by how much the anchor has moved since.
   * @param {number} now
   * @returns {[number, number]}
   */
  step(now) {
    const before = this.last;
    const part = Math.min(1, Math.max(0, (now - this.began) / DURATION_MS));
    this.moved = this.from === this.to ? 1 : part * part * (3 - 2 * part);
    const after = this.at(this.anchor);
    this.last = after;
    if (this.moved === 1) this.from = this.to;
    return [after[0] - before[0], after[1] - before[1]];
  }

  /**
   * Where a row lies now.
   * @param {number} row
   * @returns {[number, number]}
   */
  at(row) {
    if (row < 0 || row >= this.rows) return [0, 0];
    /** @param {number} index */
    const between = (index) => this.from[index] + (this.to[index] - this.from[index]) * this.moved;
    return [between(2 * row), between(2 * row + 1)];
  }

  /** Where all rows lie now. */
  present() {
    return this.moved === 1 ? this.to : this.to.map((value, index) => this.from[index] + (value - this.from[index]) * this.moved);
  }
}
