/** Which part of the map is visible: the centre and the zoom. Points lie between -1 and 1. */

const CLOSEST = 400;
const FARTHEST = 0.5;
const FILLED = 0.94; // of the smaller side, so that no point touches the frame

/** A view on the map. */
export class Camera {
  constructor() {
    this.wide = 1;
    this.high = 1;
    this.x = 0;
    this.y = 0;
    this.zoom = 1;
  }

  /** Show everything. */
  fit() {
    this.x = 0;
    this.y = 0;
    this.zoom = 1;
  }

  /**
   * @param {number} wide
   * @param {number} high
   */
  resize(wide, high) {
    this.wide = wide;
    this.high = high;
  }

  /** Pixels for one unit. */
  get scale() {
    return (Math.min(this.wide, this.high) / 2) * FILLED * this.zoom;
  }

  /**
   * Where a point lies on the screen.
   * @param {number} x
   * @param {number} y
   * @returns {[number, number]}
   */
  toScreen(x, y) {
    return [this.wide / 2 + (x - this.x) * this.scale, this.high / 2 - (y - this.y) * this.scale];
  }

  /**
   * Which point of the map lies at a position on the screen.
   * @param {number} left
   * @param {number} top
   * @returns {[number, number]}
   */
  toMap(left, top) {
    return [this.x + (left - this.wide / 2) / this.scale, this.y - (top - this.high / 2) / this.scale];
  }

  /**
   * Move by pixels.
   * @param {number} right
   * @param {number} down
   */
  pan(right, down) {
    this.x = clamped(this.x - right / this.scale, -1.2, 1.2);
    this.y = clamped(this.y + down / this.scale, -1.2, 1.2);
  }

  /**
   * Zoom in by a factor; the point under the pointer stays where it is.
   * @param {number} factor
   * @param {number} left
   * @param {number} top
   */
  zoomAt(factor, left = this.wide / 2, top = this.high / 2) {
    const [x, y] = this.toMap(left, top);
    this.zoom = clamped(this.zoom * factor, FARTHEST, CLOSEST);
    const [nowX, nowY] = this.toMap(left, top);
    this.x += x - nowX;
    this.y += y - nowY;
  }

  /**
   * Move a point to the centre, if it is not visible.
   * @param {number} x
   * @param {number} y
   */
  reveal(x, y) {
    const [left, top] = this.toScreen(x, y);
    if (left >= 0 && top >= 0 && left <= this.wide && top <= this.high) return;
    this.x = x;
    this.y = y;
  }

  /**
   * How large a labelled point is drawn: visible among thousands.
   * @param {number} number of points
   */
  labelledSize(number) {
    return Math.max(8, this.pointSize(number) * 1.5);
  }

  /**
   * How large a point is drawn: larger where there are few, or zoomed in.
   * @param {number} number of points
   */
  pointSize(number) {
    const base = clamped(300 / Math.sqrt(Math.max(1, number)), 2.2, 8);
    return clamped(base * this.zoom ** 0.35, 2.2, 14);
  }
}

/**
 * @param {number} value
 * @param {number} low
 * @param {number} high
 */
function clamped(value, low, high) {
  return Math.min(high, Math.max(low, value));
}
