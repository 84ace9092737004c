/** Which row lies nearest to a position: points are sorted into squares once, so that a look-up reads only a few. */

const SQUARES = 160;

/** All points of a map, by position. */
export class Picking {
  /** @param {Float32Array} points x and y in turn, between -1 and 1 */
  constructor(points) {
    this.points = points;
    const number = points.length / 2;
    const square = new Uint32Array(number);
    this.starts = new Uint32Array(SQUARES * SQUARES + 1);
    for (let row = 0; row < number; row += 1) {
      square[row] = squareOf(points[2 * row]) + SQUARES * squareOf(points[2 * row + 1]);
      this.starts[square[row] + 1] += 1;
    }
    for (let index = 0; index < SQUARES * SQUARES; index += 1) this.starts[index + 1] += this.starts[index];
    const next = this.starts.slice();
    this.rows = new Uint32Array(number);
    for (let row = 0; row < number; row += 1) this.rows[next[square[row]]++] = row;
  }

  /**
   * Give the row nearest to a position within a distance, or -1.
   * @param {number} x
   * @param {number} y
   * @param {number} reach
   */
  nearest(x, y, reach) {
    let best = -1;
    let least = reach * reach;
    this.visit(x - reach, y - reach, x + reach, y + reach, (row, rowX, rowY) => {
      const gap = (rowX - x) ** 2 + (rowY - y) ** 2;
      if (gap <= least) [best, least] = [row, gap];
    });
    return best;
  }

  /**
   * Give all rows in a box.
   * @param {number} left
   * @param {number} low
   * @param {number} right
   * @param {number} high
   */
  within(left, low, right, high) {
    /** @type {number[]} */
    const rows = [];
    this.visit(left, low, right, high, (row, x, y) => {
      if (x >= left && x <= right && y >= low && y <= high) rows.push(row);
    });
    return rows;
  }

  /**
   * @param {number} left
   * @param {number} low
   * @param {number} right
   * @param {number} high
   * @param {(row: number, x: number, y: number) => void} see
   */
  visit(left, low, right, high, see) {
    for (let line = squareOf(low); line <= squareOf(high); line += 1) {
      const from = this.starts[line * SQUARES + squareOf(left)];
      const to = this.starts[line * SQUARES + squareOf(right) + 1];
      for (let index = from; index < to; index += 1) {
        const row = this.rows[index];
        see(row, this.points[2 * row], this.points[2 * row + 1]);
      }
    }
  }
}

/** @param {number} value */
function squareOf(value) {
  return Math.min(SQUARES - 1, Math.max(0, Math.floor(((value + 1) / 2) * SQUARES)));
}
