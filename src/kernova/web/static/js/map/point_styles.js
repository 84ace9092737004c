/** How each point looks: a colour and a shape by its label, and the order in which they are drawn. */

import { SHAPES, shownColours, signOf } from "../glyph.js";
import { AMBIGUOUS, NO_LABEL, SKIPPED } from "../row_labels.js";

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
 * @returns {import("../page_types.js").PointStyles}
 */
export function pointStyles(labels, categories) {
  const shown = shownColours();
  const labelled = categories.map(({ colour }) => {
    const sign = signOf(colour);
    return { rgb: shown.named[sign.colour], shape: 1 + SHAPES.indexOf(sign.shape) };
  });
  /** @param {number} label */
  const looks = (label) => {
    if (label === NO_LABEL) return { rgb: shown.unnamed, shape: SHAPE.hollow };
    if (label === SKIPPED) return { rgb: shown.skipped, shape: SHAPE.cross };
    if (label === AMBIGUOUS) return { rgb: shown.unnamed, shape: SHAPE.cross };
    return labelled[label - 1] ?? { rgb: shown.unknown, shape: SHAPE.cross };
  };
  const colours = new Uint8Array(4 * labels.length);
  const shapes = new Uint8Array(labels.length);
  const order = new Uint32Array(labels.length);
  const nUnlabelled = labels.reduce((count, label) => count + (label === NO_LABEL ? 1 : 0), 0);
  const nCrosses = labels.reduce((count, label) => count + (looks(label).shape === SHAPE.cross ? 1 : 0), 0);
  const next = [0, nUnlabelled, nUnlabelled + nCrosses];
  for (let row = 0; row < labels.length; row += 1) {
    const { rgb, shape } = looks(labels[row]);
    colours.set(rgb, 4 * row);
    colours[4 * row + 3] = shape === SHAPE.hollow ? 190 : 255;
    shapes[row] = shape;
    order[next[LAYERS[shape]]++] = row;
  }
  return { colours, shapes, order, nUnlabelled };
}
