/** A picture under other light: inverted, brighter, or as large as the window. */

import { openDialog } from "./dialogs.js";
import { button, element } from "./dom.js";
import { keep, kept } from "./kept.js";
import { bind } from "./keys.js";

const WAYS = { inverted: "Invert", brighter: "Brighter", pixels: "Pixels" };
let inHand = null;

/** Bind the keys for pictures. */
export function startPictureTools() {
  bind("i", "Look", "invert the picture", () => inHand?.turn("inverted"));
  bind("b", "Look", "a brighter picture", () => inHand?.turn("brighter"));
  bind("z", "Look", "the picture as large as the window", () => inHand?.enlarge());
}

/** Put a picture's frame into a panel with its tools; what was chosen holds for the next picture, too. */
export function picturePanel(frame) {
  const image = frame.querySelector("img");
  const controls = {};
  const show = (way) => {
    const isOn = kept(way) === "on";
    frame.classList.toggle(way, isOn);
    controls[way].setAttribute("aria-pressed", String(isOn));
  };
  const turn = (way) => {
    keep(way, kept(way) === "on" ? null : "on");
    show(way);
  };
  const enlarge = () => {
    const large = element("img", { src: image.src.replace(/largest=\d+/, "largest=2048"), alt: image.alt, class: image.className });
    openDialog(image.alt, [element("figure", { class: `${frame.className} enlarged` }, large)], { testid: "enlarged", isWide: true });
  };
  for (const [way, words] of Object.entries(WAYS)) controls[way] = button(words, () => turn(way), { class: "small quiet", "aria-pressed": "false" });
  image.addEventListener("click", enlarge);
  inHand = { turn, enlarge };
  for (const way of Object.keys(WAYS)) show(way);
  const tools = element("div", { class: "picture-tools", role: "group", "aria-label": "Picture" }, ...Object.values(controls), button("Enlarge", enlarge, { class: "small quiet" }));
  return element("div", { class: "picture-panel" }, frame, tools);
}
