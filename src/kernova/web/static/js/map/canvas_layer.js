/** Points drawn without a graphics card: the same looks, and fewer unnamed ones while the map moves. */

import { SHAPE } from "./point_styles.js";

const MOST_WHILE_MOVING = 20_000;

/** Make a layer on a canvas. */
export function canvasLayer(canvas) {
  const pen = canvas.getContext("2d");
  let points = new Float32Array();
  let styles = null;
  let dipped = null;
  return {
    kind: "canvas",
    setPoints(given) {
      points = given;
    },
    setStyles(given) {
      // Each colour as one number, to be compared at once.
      styles = { ...given, tints: new Uint32Array(given.colours.buffer) };
    },
    draw(camera, ratio, isMoving = false) {
      pen.setTransform(ratio, 0, 0, ratio, 0, 0);
      pen.clearRect(0, 0, camera.wide, camera.high);
      dipped = null;
      if (!styles) return;
      const { order, n_unnamed } = styles;
      const size = camera.pointSize(order.length);
      const step = isMoving ? Math.max(1, Math.ceil(n_unnamed / MOST_WHILE_MOVING)) : 1;
      for (let place = 0; place < n_unnamed; place += step) mark(camera, order[place], size);
      for (let place = n_unnamed; place < order.length; place += 1) mark(camera, order[place], camera.namedSize(order.length));
    },
  };

  function mark(camera, row, size) {
    const [x, y] = camera.toScreen(points[2 * row], points[2 * row + 1]);
    if (x < -size || y < -size || x > camera.wide + size || y > camera.high + size) return;
    const half = size / 2;
    const shape = styles.shapes[row];
    dip(row);
    if (shape === SHAPE.square || (shape === SHAPE.hollow && size <= 4)) return pen.fillRect(x - half, y - half, size, size);
    pen.beginPath();
    if (shape === SHAPE.triangle) polygon([[x, y - half], [x + half, y + half * 0.8], [x - half, y + half * 0.8]]);
    else if (shape === SHAPE.diamond) polygon([[x, y - half], [x + half, y], [x, y + half], [x - half, y]]);
    else if (shape === SHAPE.cross) return cross(x, y, half * 0.7);
    else pen.arc(x, y, half, 0, 7);
    if (shape !== SHAPE.hollow) return pen.fill();
    pen.stroke();
  }

  /** Change the colour only where it differs from the point before: that is what takes time. */
  function dip(row) {
    const tint = styles.tints[row];
    if (tint === dipped) return;
    dipped = tint;
    const [r, g, b, a] = styles.colours.subarray(4 * row, 4 * row + 4);
    const paint = `rgba(${r},${g},${b},${a / 255})`;
    pen.fillStyle = paint;
    pen.strokeStyle = paint;
  }

  function polygon(corners) {
    corners.forEach(([x, y], place) => (place === 0 ? pen.moveTo(x, y) : pen.lineTo(x, y)));
    pen.closePath();
  }

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
