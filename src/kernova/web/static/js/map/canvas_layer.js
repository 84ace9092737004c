/**
 * Points drawn without a graphics card, with the same look: written into an image pixel by pixel, which is many times
 * as fast as drawing 100,000 shapes.
 */

import { SHAPE } from "./point_styles.js";
import { stampOf } from "./stamps.js";

const OPAQUE = 250; // of 255

/**
 * Make a layer on a canvas.
 * @param {HTMLCanvasElement} canvas
 * @returns {import("../page_types.js").Layer}
 */
export function canvasLayer(canvas) {
  const pen = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  let from = new Float32Array();
  let to = new Float32Array();
  /** @type {(import("../page_types.js").PointStyles & {tints: Uint32Array})|null} */
  let styles = null;
  let image = new ImageData(1, 1);
  let pixels = new Uint32Array(image.data.buffer);
  return {
    kind: "canvas",
    setPoints(before, after) {
      from = before;
      to = after;
    },
    setStyles(given) {
      styles = { ...given, tints: new Uint32Array(given.colours.buffer) };
    },
    draw(camera, ratio, moved) {
      const { width, height } = canvas;
      if (image.width !== width || image.height !== height) {
        image = new ImageData(width, height);
        pixels = new Uint32Array(image.data.buffer);
      }
      pixels.fill(0);
      if (styles) {
        const { order, nUnlabelled } = styles;
        const scale = camera.scale * ratio;
        const place = { scale, left: width / 2 - camera.x * scale, top: height / 2 + camera.y * scale, moved };
        drawPart(order.subarray(0, nUnlabelled), camera.pointSize(order.length) * ratio, place);
        drawPart(order.subarray(nUnlabelled), camera.labelledSize(order.length) * ratio, place);
      }
      pen.putImageData(image, 0, 0);
    },
  };

  /**
   * @param {Uint32Array} rows
   * @param {number} size in pixels of the image
   * @param {{scale: number, left: number, top: number, moved: number}} place
   */
  function drawPart(rows, size, { scale, left, top, moved }) {
    if (!styles) return;
    const { shapes, tints } = styles;
    const side = Math.max(1, Math.round(size));
    // Few shapes and colours: each is painted once, and then copied.
    const painted = Object.values(SHAPE).map(() => /** @type {Map<number, Painted>} */ (new Map()));
    for (let index = 0; index < rows.length; index += 1) {
      const row = rows[index];
      const x = from[2 * row] + (to[2 * row] - from[2 * row]) * moved;
      const y = from[2 * row + 1] + (to[2 * row + 1] - from[2 * row + 1]) * moved;
      const begin = Math.round(left + x * scale) - (side >> 1);
      const first = Math.round(top - y * scale) - (side >> 1);
      if (begin <= -side || first <= -side || begin >= image.width || first >= image.height) continue;
      const shape = shapes[row];
      let stamp = painted[shape].get(tints[row]);
      if (!stamp) painted[shape].set(tints[row], (stamp = paintedStamp(stampOf(shape, side), tints[row], image.width)));
      put(stamp, begin, first, side);
    }
  }

  /**
   * Copy a stamp into the image.
   * @param {Painted} stamp
   * @param {number} begin
   * @param {number} first
   * @param {number} side
   */
  function put({ offsets, columns, paints }, begin, first, side) {
    const { width, height } = image;
    const isInside = begin >= 0 && first >= 0 && begin + side <= width && first + side <= height;
    const base = first * width + begin;
    for (let index = 0; index < paints.length; index += 1) {
      const target = base + offsets[index];
      if (!isInside && (begin + columns[index] < 0 || begin + columns[index] >= width || target < 0 || target >= pixels.length)) continue;
      const paint = paints[index];
      pixels[target] = paint >>> 24 >= OPAQUE || pixels[target] === 0 ? paint : over(pixels[target], paint);
    }
  }
}

/**
 * @typedef {object} Painted
 * @property {Int32Array} offsets of its pixels in the image
 * @property {Uint8Array} columns of its pixels in the stamp
 * @property {Uint32Array} paints red in the lowest byte, opacity in the highest
 */

/**
 * A stamp in a colour, for an image of a width.
 * @param {import("./stamps.js").Stamp} stamp
 * @param {number} tint
 * @param {number} width
 * @returns {Painted}
 */
function paintedStamp({ side, covers, shades }, tint, width) {
  const places = [...covers.keys()].filter((place) => covers[place] > 0);
  return {
    offsets: Int32Array.from(places, (place) => Math.floor(place / side) * width + (place % side)),
    columns: Uint8Array.from(places, (place) => place % side),
    paints: Uint32Array.from(places, (place) => {
      const opacity = Math.round((covers[place] * (tint >>> 24)) / 255);
      return ((opacity << 24) | shaded(tint, shades[place])) >>> 0;
    }),
  };
}

/**
 * A colour over another that is not empty.
 * @param {number} below
 * @param {number} above
 */
function over(below, above) {
  const opacity = above >>> 24;
  const under = ((below >>> 24) * (255 - opacity)) / 255;
  const sum = opacity + under;
  if ((below & 0xffffff) === (above & 0xffffff)) return ((sum << 24) | (above & 0xffffff)) >>> 0;
  const red = ((above & 255) * opacity + (below & 255) * under) / sum;
  const green = (((above >> 8) & 255) * opacity + ((below >> 8) & 255) * under) / sum;
  const blue = (((above >> 16) & 255) * opacity + ((below >> 16) & 255) * under) / sum;
  return ((sum << 24) | (blue << 16) | (green << 8) | red) >>> 0;
}

/**
 * A darker colour.
 * @param {number} tint
 * @param {number} shade of 255
 */
function shaded(tint, shade) {
  const part = shade / 255;
  return ((((tint >>> 16) & 255) * part) << 16) | ((((tint >>> 8) & 255) * part) << 8) | ((tint & 255) * part);
}
