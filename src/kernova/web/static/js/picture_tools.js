/** Tools for a picture: inverted, brighter, or enlarged. */

import { openDialog } from "./dialogs.js";
import { button, element, within } from "./dom.js";
import { keep, kept } from "./kept.js";
import { bind } from "./keys.js";

const WAYS = { inverted: "Invert", brighter: "Brighter", pixels: "Pixels" };
/** @typedef {keyof typeof WAYS} Way */

/**
 * The picture of the question: what the keys reach.
 * @type {{turn: (way: Way) => void, enlarge: () => void}|null}
 */
let current = null;

/** Bind the keys for pictures. */
export function startPictureTools() {
  bind("i", "Picture", "invert the picture", () => current?.turn("inverted"));
  bind("b", "Picture", "brighten the picture", () => current?.turn("brighter"));
  bind("z", "Picture", "enlarge the picture", () => current?.enlarge());
}

/**
 * Put a picture's frame into a panel with its tools; what was chosen applies to the next picture, too.
 * @param {HTMLElement} frame
 */
export function picturePanel(frame) {
  const image = /** @type {HTMLImageElement} */ (within(frame, "img"));
  /** @param {Way} way */
  const show = (way) => {
    const isOn = kept(way) === "on";
    frame.classList.toggle(way, isOn);
    controls[way].setAttribute("aria-pressed", String(isOn));
  };
  /** @param {Way} way */
  const turn = (way) => {
    keep(way, kept(way) === "on" ? null : "on");
    show(way);
  };
  const enlarge = () => {
    const large = element("img", { src: image.src.replace(/largest=\d+/, "largest=2048"), alt: image.alt, class: image.className });
    openDialog(image.alt, [element("figure", { class: `${frame.className} enlarged` }, large)], { testid: "enlarged", isWide: true });
  };
  /** @param {Way} way */
  const control = (way) => button(WAYS[way], () => turn(way), { class: "small quiet", "aria-pressed": "false" });
  const controls = { inverted: control("inverted"), brighter: control("brighter"), pixels: control("pixels") };
  image.addEventListener("click", enlarge);
  current = { turn, enlarge };
  for (const way of /** @type {Way[]} */ (Object.keys(WAYS))) show(way);
  const tools = element("div", { class: "picture-tools", role: "group", "aria-label": "Picture" }, ...Object.values(controls), button("Enlarge", enlarge, { class: "small quiet" }));
  return element("div", { class: "picture-panel" }, frame, tools);
}
