/** The symbol of a category: a colour and a shape, so that the first 32 can be distinguished with any colour vision. */

import { drawn, element } from "./dom.js";

export const N_COLOURS = 8;
export const SHAPES = /** @type {const} */ (["circle", "square", "triangle", "diamond"]);

const OUTLINES = {
  circle: "M8 1.800a6.200 6.200 0 1 1 0 12.400a6.200 6.200 0 1 1 0-12.400z",
  square: "M2.500 2.500h11v11h-11z",
  triangle: "M8 1.500 15 14H1z",
  diamond: "M8 .7 15.300 8 8 15.300 .7 8z",
};

/**
 * Give colour and shape for a category's number.
 * @param {number} number
 */
export function signOf(number) {
  return { colour: number % N_COLOURS, shape: SHAPES[Math.floor(number / N_COLOURS) % SHAPES.length] };
}

/**
 * Draw the symbol of a category's number; without one a hollow ring, as for unlabelled rows.
 * @param {number|null} [number]
 */
export function glyph(number) {
  const { colour, shape } = number === null || number === undefined ? { colour: "none", shape: /** @type {const} */ ("circle") } : signOf(number);
  const outline = drawn("path", { d: OUTLINES[shape] });
  return drawn("svg", { class: "glyph", viewBox: "0 0 16 16", "aria-hidden": "true", "data-colour": colour }, outline);
}

/**
 * A category's name with its symbol.
 * @param {import("./types.js").Category|undefined} category
 * @param {string} name
 */
export function labelTag(category, name) {
  return element("span", { class: "label-tag" }, glyph(category?.colour), element("span", {}, name));
}

/** The colours as this page shows them now, light or dark, as [r, g, b] from 0 to 255. */
export function shownColours() {
  const probe = document.body.appendChild(element("span", { class: "glyph unseen" }));
  /** @param {string} name */
  const read = (name) => {
    probe.dataset.colour = name;
    return (getComputedStyle(probe).color.match(/[\d.]+/g) ?? []).slice(0, 3).map(Number);
  };
  const named = Array.from({ length: N_COLOURS }, (_, number) => read(String(number)));
  const colours = { named, unnamed: read("none"), skipped: read("skipped"), unknown: read("unknown") };
  probe.remove();
  return colours;
}
