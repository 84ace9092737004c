/** How each point looks: a colour and a shape by its label, and the order in which they are drawn. */

import { SHAPES, shownColours, signOf } from "../glyph.js";
import { AMBIGUOUS, NO_LABEL, SKIPPED } from "../row_labels.js";

const LABELS = 65536;
/** Accepted suggestions are fainter than labels given by hand. */
const FAINT = 110;

const ONE_TINT = new Uint32Array(1);
const ONE_TINT_BYTES = new Uint8Array(ONE_TINT.buffer);

/** Numbers of the shapes, as both layers know them. */
export const SHAPE = { hollow: 0, circle: 1, square: 2, triangle: 3, diamond: 4, cross: 5 };

/**
 * What is drawn over what: hollow points at the bottom, crosses between, labelled points on top.
 * @type {Object<number, number>}
 */
const LAYERS = { [SHAPE.hollow]: 0, [SHAPE.cross]: 1, [SHAPE.circle]: 2, [SHAPE.square]: 2, [SHAPE.triangle]: 2, [SHAPE.diamond]: 2 };

/**
 * @param {Uint16Array} labels as the server gives them
 * @param {{colour: number}[]} categories
 * @param {Uint16Array|null} accepted 1 for accepted suggestions; null where there are none
 * @returns {import("../page_types.js").PointStyles}
 */
export function pointStyles(labels, categories, accepted = null) {
  const shown = shownColours();
  const named = categories.map(({ colour }) => {
    const sign = signOf(colour);
    return { rgb: shown.named[sign.colour], shape: 1 + SHAPES.indexOf(sign.shape) };
  });
  /** @param {number} label */
  const look = (label) => {
    if (label === NO_LABEL) return { rgb: shown.unnamed, shape: SHAPE.hollow };
    if (label === SKIPPED) return { rgb: shown.skipped, shape: SHAPE.cross };
    if (label === AMBIGUOUS) return { rgb: shown.unnamed, shape: SHAPE.cross };
    return named[label - 1] ?? { rgb: shown.unknown, shape: SHAPE.cross };
  };
  // Few different labels: what each looks like is found once, not for every row.
  const counts = countsOf(labels);
  const tintOfLabel = new Uint32Array(LABELS);
  const shapeOfLabel = new Uint8Array(LABELS);
  let nUnlabelled = 0;
  const sizes = [0, 0, 0];
  for (const [label, count] of counts) {
    const { rgb, shape } = look(label);
    tintOfLabel[label] = tintOf(rgb, shape === SHAPE.hollow ? 190 : 255);
    shapeOfLabel[label] = shape;
    sizes[LAYERS[shape]] += count;
    if (label === NO_LABEL) nUnlabelled = count;
  }
  const next = [0, sizes[0], sizes[0] + sizes[1]];
  const tints = new Uint32Array(labels.length);
  const shapes = new Uint8Array(labels.length);
  const order = new Uint32Array(labels.length);
  for (let row = 0; row < labels.length; row += 1) {
    const shape = shapeOfLabel[labels[row]];
    tints[row] = accepted?.[row] ? fainter(tintOfLabel[labels[row]]) : tintOfLabel[labels[row]];
    shapes[row] = shape;
    order[next[LAYERS[shape]]++] = row;
  }
  const colours = new Uint8Array(tints.buffer);
  return { colours, shapes, order, nUnlabelled };
}

/**
 * @param {number} tint
 */
function fainter(tint) {
  ONE_TINT[0] = tint;
  ONE_TINT_BYTES[3] = FAINT;
  return ONE_TINT[0];
}

/**
 * How many rows have each label.
 * @param {Uint16Array} labels
 * @returns {Map<number, number>}
 */
export function countsOf(labels) {
  const counts = new Uint32Array(LABELS);
  for (let row = 0; row < labels.length; row += 1) counts[labels[row]] += 1;
  const found = new Map();
  counts.forEach((count, label) => count > 0 && found.set(label, count));
  return found;
}

/**
 * A colour as one number, in the order of its bytes.
 * @param {number[]} rgb
 * @param {number} opacity
 */
function tintOf(rgb, opacity) {
  return new Uint32Array(Uint8Array.of(...rgb.slice(0, 3), opacity).buffer)[0];
}
