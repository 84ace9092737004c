/** Points drawn without a graphics card: the same look, and fewer unlabelled ones while the map moves. */

import { SHAPE } from "./point_styles.js";

const MOST_WHILE_MOVING = 20_000;

/** @typedef {import("./camera.js").Camera} Camera */

/**
 * Make a layer on a canvas.
 * @param {HTMLCanvasElement} canvas
 * @returns {import("../page_types.js").Layer}
 */
export function canvasLayer(canvas) {
  const pen = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  let points = new Float32Array();
  /** @type {(import("../page_types.js").PointStyles & {tints: Uint32Array})|null} */
  let styles = null;
  /** @type {number|null} */
  let lastTint = null;
  return {
    kind: "canvas",
    setPoints(given) {
      points = given;
    },
    setStyles(given) {
      // Each colour as one number, to compare quickly.
      styles = { ...given, tints: new Uint32Array(given.colours.buffer) };
    },
    draw(camera, ratio, isMoving = false) {
      pen.setTransform(ratio, 0, 0, ratio, 0, 0);
      pen.clearRect(0, 0, camera.wide, camera.high);
      lastTint = null;
      if (!styles) return;
      const { order, nUnlabelled } = styles;
      const size = camera.pointSize(order.length);
      const step = isMoving ? Math.max(1, Math.ceil(nUnlabelled / MOST_WHILE_MOVING)) : 1;
      for (let index = 0; index < nUnlabelled; index += step) mark(styles, camera, order[index], size);
      for (let index = nUnlabelled; index < order.length; index += 1) mark(styles, camera, order[index], camera.labelledSize(order.length));
    },
  };

  /**
   * @param {NonNullable<typeof styles>} styles
   * @param {Camera} camera
   * @param {number} row
   * @param {number} size
   */
  function mark(styles, camera, row, size) {
    const [x, y] = camera.toScreen(points[2 * row], points[2 * row + 1]);
    if (x < -size || y < -size || x > camera.wide + size || y > camera.high + size) return;
    const half = size / 2;
    const shape = styles.shapes[row];
    setColour(styles, row);
    if (shape === SHAPE.square || (shape === SHAPE.hollow && size <= 4)) return pen.fillRect(x - half, y - half, size, size);
    pen.beginPath();
    if (shape === SHAPE.triangle) polygon([[x, y - half], [x + half, y + half * 0.8], [x - half, y + half * 0.8]]);
    else if (shape === SHAPE.diamond) polygon([[x, y - half], [x + half, y], [x, y + half], [x - half, y]]);
    else if (shape === SHAPE.cross) return cross(x, y, half * 0.7);
    else pen.arc(x, y, half, 0, 7);
    if (shape !== SHAPE.hollow) return pen.fill();
    pen.stroke();
  }

  /**
   * Change the colour only where it differs from that of the previous point: changing it is slow.
   * @param {NonNullable<typeof styles>} styles
   * @param {number} row
   */
  function setColour(styles, row) {
    const tint = styles.tints[row];
    if (tint === lastTint) return;
    lastTint = tint;
    const [r, g, b, a] = styles.colours.subarray(4 * row, 4 * row + 4);
    const paint = `rgba(${r},${g},${b},${a / 255})`;
    pen.fillStyle = paint;
    pen.strokeStyle = paint;
  }

  /** @param {number[][]} corners */
  function polygon(corners) {
    corners.forEach(([x, y], index) => (index === 0 ? pen.moveTo(x, y) : pen.lineTo(x, y)));
    pen.closePath();
  }

  /**
   * @param {number} x
   * @param {number} y
   * @param {number} half
   */
  function cross(x, y, half) {
    pen.moveTo(x - half, y - half);
    pen.lineTo(x + half, y + half);
    pen.moveTo(x + half, y - half);
    pen.lineTo(x - half, y + half);
    pen.lineWidth = 1.6;
    pen.stroke();
    pen.lineWidth = 1;
  }
}
