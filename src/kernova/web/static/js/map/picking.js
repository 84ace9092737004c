/** Which row lies nearest to a place: points are put into squares once, so that a look-up reads only a few. */

const SQUARES = 160;

/** All points of a map, by place. */
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
    for (let place = 0; place < SQUARES * SQUARES; place += 1) this.starts[place + 1] += this.starts[place];
    const next = this.starts.slice();
    this.rows = new Uint32Array(number);
    for (let row = 0; row < number; row += 1) this.rows[next[square[row]]++] = row;
  }

  /** Give the row nearest to a place within a distance, or -1. */
  nearest(x, y, reach) {
    let best = -1;
    let least = reach * reach;
    this.visit(x - reach, y - reach, x + reach, y + reach, (row, at_x, at_y) => {
      const gap = (at_x - x) ** 2 + (at_y - y) ** 2;
      if (gap <= least) [best, least] = [row, gap];
    });
    return best;
  }

  /** Give all rows in a box. */
  within(left, low, right, high) {
    const rows = [];
    this.visit(left, low, right, high, (row, x, y) => {
      if (x >= left && x <= right && y >= low && y <= high) rows.push(row);
    });
    return rows;
  }

  visit(left, low, right, high, see) {
    for (let line = squareOf(low); line <= squareOf(high); line += 1) {
      const from = this.starts[line * SQUARES + squareOf(left)];
      const to = this.starts[line * SQUARES + squareOf(right) + 1];
      for (let place = from; place < to; place += 1) {
        const row = this.rows[place];
        see(row, this.points[2 * row], this.points[2 * row + 1]);
      }
    }
  }
}

function squareOf(value) {
  return Math.min(SQUARES - 1, Math.max(0, Math.floor(((value + 1) / 2) * SQUARES)));
}
