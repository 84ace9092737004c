/** What part of the map is seen: the middle and the scale. Points lie between -1 and 1. */

const CLOSEST = 400;
const FARTHEST = 0.5;
const FILLED = 0.94; // of the smaller side, so that no point touches the frame

/** A view on the map. */
export class Camera {
  constructor() {
    this.wide = 1;
    this.high = 1;
    this.fit();
  }

  /** Show everything. */
  fit() {
    this.x = 0;
    this.y = 0;
    this.zoom = 1;
  }

  resize(wide, high) {
    this.wide = wide;
    this.high = high;
  }

  /** Pixels for one unit. */
  get scale() {
    return (Math.min(this.wide, this.high) / 2) * FILLED * this.zoom;
  }

  /** Where a point lies on the screen. */
  toScreen(x, y) {
    return [this.wide / 2 + (x - this.x) * this.scale, this.high / 2 - (y - this.y) * this.scale];
  }

  /** Which point lies at a place on the screen. */
  toMap(left, top) {
    return [this.x + (left - this.wide / 2) / this.scale, this.y - (top - this.high / 2) / this.scale];
  }

  /** Move by pixels. */
  pan(right, down) {
    this.x = within(this.x - right / this.scale, -1.2, 1.2);
    this.y = within(this.y + down / this.scale, -1.2, 1.2);
  }

  /** Come nearer by a factor; the place under the pointer stays where it is. */
  zoomAt(factor, left = this.wide / 2, top = this.high / 2) {
    const [x, y] = this.toMap(left, top);
    this.zoom = within(this.zoom * factor, FARTHEST, CLOSEST);
    const [now_x, now_y] = this.toMap(left, top);
    this.x += x - now_x;
    this.y += y - now_y;
  }

  /** Bring a point into the middle, if it is out of sight. */
  reveal(x, y) {
    const [left, top] = this.toScreen(x, y);
    if (left >= 0 && top >= 0 && left <= this.wide && top <= this.high) return;
    this.x = x;
    this.y = y;
  }

  /** How large a named point is drawn: to be found among thousands. */
  namedSize(number) {
    return Math.max(8, this.pointSize(number) * 1.5);
  }

  /** How large a point is drawn: few or near ones larger. */
  pointSize(number) {
    const base = within(300 / Math.sqrt(Math.max(1, number)), 2.2, 8);
    return within(base * this.zoom ** 0.35, 2.2, 14);
  }
}

function within(value, low, high) {
  return Math.min(high, Math.max(low, value));
}
