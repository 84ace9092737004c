/** Shapes of points as small images: how much of each pixel is covered, and how dark it is. The look is that of webgl_layer.js. */

import { SHAPE } from "./point_styles.js";

/**
 * @typedef {object} Stamp
 * @property {number} side in pixels
 * @property {Uint8Array} covers by line
 * @property {Uint8Array} shades by line; 255 is the colour itself
 */

/** Below this size, points without a label are plain squares. */
const SMALL = 4;

/** @type {Map<string, Stamp>} */
const made = new Map();

/**
 * Give the stamp of a shape.
 * @param {number} shape
 * @param {number} side
 */
export function stampOf(shape, side) {
  const key = `${shape} ${side}`;
  const stamp = made.get(key) ?? newStamp(shape, side);
  made.set(key, stamp);
  return stamp;
}

/**
 * @param {number} shape
 * @param {number} side
 * @returns {Stamp}
 */
function newStamp(shape, side) {
  const covers = new Uint8Array(side * side).fill(255);
  const shades = new Uint8Array(side * side).fill(255);
  if (shape === SHAPE.hollow && side <= SMALL) return { side, covers, shades };
  const reach = side / 2 - 0.5;
  const isFilled = shape !== SHAPE.hollow && shape !== SHAPE.cross;
  for (let index = 0; index < covers.length; index += 1) {
    const x = (index % side) + 0.5 - side / 2;
    const y = Math.floor(index / side) + 0.5 - side / 2;
    const gap = gapOf(shape, x, y, reach);
    const ring = shape === SHAPE.hollow ? part(gap + 2.2, 0.15) : 1;
    covers[index] = Math.round(255 * part(0.5 - gap) * ring);
    // A thin rim of the other lightness keeps neighbours of one colour apart.
    if (isFilled) shades[index] = Math.round(255 * (1 - 0.65 * 0.45 * part(gap + 1.6)));
  }
  return { side, covers, shades };
}

/**
 * How far a pixel is outside of a shape; negative inside.
 * @param {number} shape
 * @param {number} x
 * @param {number} y
 * @param {number} reach
 */
function gapOf(shape, x, y, reach) {
  const round = Math.hypot(x, y) - reach;
  if (shape === SHAPE.square) return Math.max(Math.abs(x), Math.abs(y)) - reach * 0.85;
  if (shape === SHAPE.triangle) return Math.max(Math.abs(x) * 0.89 - (y + reach) * 0.45, y - reach * 0.8);
  if (shape === SHAPE.diamond) return (Math.abs(x) + Math.abs(y)) * 0.75 - reach * 0.75;
  if (shape === SHAPE.cross) return Math.max(Math.min(Math.abs(x - y), Math.abs(x + y)) * 0.7 - Math.max(0.7, reach * 0.22), round);
  return round;
}

/**
 * A number between a floor and 1.
 * @param {number} value
 * @param {number} least
 */
function part(value, least = 0) {
  return Math.min(1, Math.max(least, value));
}
