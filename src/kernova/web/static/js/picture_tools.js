/** A picture with its tools: zoom and pan, contrast, inverted, brighter, enlarged. What was chosen applies to the next one, too. */

import { openDialog } from "./dialogs.js";
import { button, element } from "./dom.js";
import { keep, kept } from "./kept.js";
import { bind } from "./keys.js";

const WAYS = { inverted: "Invert", brighter: "Brighter", pixels: "Pixels" };
/** @typedef {keyof typeof WAYS} Way */
/** @typedef {"plain"|"linear"|"asinh"|"log"} Contrast */

/** @type {Record<Contrast, string>} */
const CONTRASTS = { plain: "as it is", linear: "linear, middle 99 %", asinh: "asinh", log: "logarithmic" };
const STEP = 1.4;
const MOST = 32;
/** Arrow keys move the picture by this fraction of its frame. */
const PAN = 0.1;
/** From this zoom on, the picture is read in its full size. */
const FULL_SIZE = 1.5;
const DRAGGED_PX = 4;

/** How pictures are zoomed: the next one is shown alike. Positions are fractions of the frame. */
const zoom = { scale: 1, x: 0, y: 0 };

/** @typedef {{turn: (way: Way) => void, enlarge: () => void, zoomBy: (factor: number) => void, nextContrast: () => void}} Controls */
/**
 * The picture of the question: what the keys reach.
 * @type {Controls|null}
 */
let current = null;
/** Pictures that are shown now, to be zoomed together. @type {Set<() => void>} */
const shown = new Set();

/** Bind the keys for pictures. */
export function startPictureTools() {
  bind("i", "Picture", "invert the picture", () => current?.turn("inverted"));
  bind("b", "Picture", "brighten the picture", () => current?.turn("brighter"));
  bind("z", "Picture", "enlarge the picture", () => current?.enlarge());
  bind("+", "Picture", "zoom in; with the picture in focus, arrow keys pan and Home shows all", () => current?.zoomBy(STEP), "+");
  bind("=", "Picture", "zoom in", () => current?.zoomBy(STEP), "");
  bind("-", "Picture", "zoom out", () => current?.zoomBy(1 / STEP), "−");
  bind("x", "Picture", "next contrast: linear, asinh, logarithmic, as it is", () => current?.nextContrast());
}

/** Forget the picture of the question. */
export function forgetPicture() {
  current = null;
}

/**
 * The address of a picture with the chosen contrast.
 * @param {string} address
 * @param {number} largest
 */
export function pictureAddress(address, largest) {
  const url = new URL(address, location.href);
  url.searchParams.set("largest", String(largest));
  const contrast = contrastNow();
  if (contrast !== "plain") url.searchParams.set("contrast", contrast);
  return url.pathname + url.search;
}

/** @returns {Contrast} */
function contrastNow() {
  const found = kept("contrast");
  return found !== null && found in CONTRASTS ? /** @type {Contrast} */ (found) : "plain";
}

/**
 * Put a picture into a panel with its tools.
 * @param {string} address
 * @param {string} words what it shows
 * @param {{isInHand?: boolean, isLarge?: boolean}} [options] whether the keys reach it, whether it fills the window
 */
export function picturePanel(address, words, { isInHand = false, isLarge = false } = {}) {
  const { frame, image, show, act } = zoomedPicture(address, words, isLarge);
  /** @param {Way} way */
  const showWay = (way) => {
    const isOn = kept(way) === "on";
    frame.classList.toggle(way, isOn);
    controls[way].setAttribute("aria-pressed", String(isOn));
  };
  /** @param {Way} way */
  const turn = (way) => {
    keep(way, kept(way) === "on" ? null : "on");
    showWay(way);
  };
  const enlarge = () => {
    if (!isLarge) openDialog(words, [picturePanel(address, words, { isLarge: true })], { testid: "enlarged", isWide: true });
  };
  /** @param {Way} way */
  const control = (way) => button(WAYS[way], () => turn(way), { class: "small quiet", "aria-pressed": "false" });
  const controls = { inverted: control("inverted"), brighter: control("brighter"), pixels: control("pixels") };
  const contrast = contrastField(() => show(true));
  const nextContrast = () => {
    contrast.selectedIndex = (contrast.selectedIndex + 1) % contrast.length;
    contrast.dispatchEvent(new Event("change"));
  };
  const reset = () => act(() => Object.assign(zoom, { scale: 1, x: 0, y: 0 }));
  /** @param {number} factor */
  const zoomBy = (factor) => act(() => zoomAt(factor, 0, 0));
  frame.addEventListener("whole", enlarge);
  if (isInHand) current = { turn, enlarge, zoomBy, nextContrast };
  for (const way of /** @type {Way[]} */ (Object.keys(WAYS))) showWay(way);
  image.addEventListener("error", () => frame.classList.add("missing"));
  image.addEventListener("load", () => frame.classList.remove("missing"));
  const tools = element("div", { class: "picture-tools", role: "group", "aria-label": "Picture" },
    button("−", () => zoomBy(1 / STEP), { class: "small quiet icon-only", "aria-label": "Zoom out", "data-testid": "zoom-out" }),
    button("+", () => zoomBy(STEP), { class: "small quiet icon-only", "aria-label": "Zoom in", "data-testid": "zoom-in" }),
    button("Reset", reset, { class: "small quiet", "aria-label": "Reset: show the whole picture", "data-testid": "zoom-reset" }),
    contrast, ...Object.values(controls), !isLarge && button("Enlarge", enlarge, { class: "small quiet" }));
  return element("div", { class: "picture-panel" }, frame, tools);
}

/** @param {() => void} onChange */
function contrastField(onChange) {
  const field = element("select", { class: "small", "aria-label": "Contrast", "data-testid": "contrast" },
    ...Object.entries(CONTRASTS).map(([name, words]) => element("option", { value: name }, name === "plain" ? "Contrast" : words)));
  field.value = contrastNow();
  field.addEventListener("change", () => {
    keep("contrast", field.value === "plain" ? null : field.value);
    onChange();
  });
  return field;
}

/**
 * A picture that is zoomed by wheel and keys, and moved by dragging and arrow keys; pictures beside it follow.
 * @param {string} address
 * @param {string} words
 * @param {boolean} isLarge
 */
export function zoomedPicture(address, words, isLarge = false) {
  const image = element("img", { alt: words, loading: "eager", decoding: "async", draggable: "false" });
  const frame = element("div", { class: isLarge ? "picture-frame enlarged" : "picture-frame", tabindex: "0", role: "application", "aria-label": `${words}. Plus and minus zoom, arrow keys pan, Home shows all.`, "data-testid": "picture-frame" }, image);
  let largest = 0;
  const show = (isNew = false) => {
    const wanted = isLarge || zoom.scale >= FULL_SIZE ? 2048 : 768;
    if (isNew || wanted > largest) image.src = pictureAddress(address, (largest = Math.max(largest, wanted)));
    image.style.transform = `translate(${zoom.x * 100}%, ${zoom.y * 100}%) scale(${zoom.scale})`;
    frame.dataset.scale = zoom.scale.toFixed(2);
    frame.classList.toggle("zoomed", zoom.scale > 1);
  };
  const follow = () => (frame.isConnected || !shown.has(follow) ? show() : void shown.delete(follow));
  /** @param {() => void} change */
  const act = (change) => {
    change();
    show();
    for (const other of [...shown]) if (other !== follow) other();
  };
  show();
  // It is put into the page after this.
  requestAnimationFrame(() => shown.add(follow));
  listenTo(frame, act);
  return { frame, image, show, act };
}

/**
 * @param {number} factor
 * @param {number} x where to, as fractions of the frame from its middle
 * @param {number} y
 */
function zoomAt(factor, x, y) {
  const scale = Math.min(MOST, Math.max(1, zoom.scale * factor));
  const grown = scale / zoom.scale;
  panTo(x - (x - zoom.x) * grown, y - (y - zoom.y) * grown, scale);
}

/**
 * @param {number} x
 * @param {number} y
 * @param {number} scale
 */
function panTo(x, y, scale = zoom.scale) {
  const most = (scale - 1) / 2;
  const within = (/** @type {number} */ value) => Math.min(most, Math.max(-most, value));
  Object.assign(zoom, { scale, x: within(x), y: within(y) });
}

/**
 * @param {HTMLElement} frame
 * @param {(change: () => void) => void} act
 */
function listenTo(frame, act) {
  frame.addEventListener("wheel", (event) => {
    // With the whole picture in view, turning back scrolls the page.
    if (zoom.scale === 1 && event.deltaY > 0) return;
    event.preventDefault();
    const box = frame.getBoundingClientRect();
    const [x, y] = [(event.clientX - box.left) / box.width - 0.5, (event.clientY - box.top) / box.height - 0.5];
    act(() => zoomAt(event.deltaY < 0 ? STEP : 1 / STEP, x, y));
  }, { passive: false });
  /** @type {{x: number, y: number, startX: number, startY: number}|null} */
  let held = null;
  let isDragged = false;
  frame.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    held = { x: event.clientX, y: event.clientY, startX: zoom.x, startY: zoom.y };
    isDragged = false;
    if (zoom.scale > 1) frame.setPointerCapture(event.pointerId);
  });
  frame.addEventListener("pointermove", (event) => {
    if (!held) return;
    const [dx, dy] = [event.clientX - held.x, event.clientY - held.y];
    isDragged ||= Math.hypot(dx, dy) > DRAGGED_PX;
    const { startX, startY } = held;
    if (isDragged && zoom.scale > 1) act(() => panTo(startX + dx / frame.clientWidth, startY + dy / frame.clientHeight));
  });
  frame.addEventListener("pointerup", () => {
    if (held && !isDragged && zoom.scale === 1) frame.dispatchEvent(new Event("whole"));
    held = null;
  });
  frame.addEventListener("pointercancel", () => (held = null));
  frame.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const change = changeOf(event.key);
    if (!change) return;
    event.preventDefault();
    event.stopPropagation();
    act(change);
  });
}

/**
 * What a key does to the picture that has the focus.
 * @param {string} key
 * @returns {(() => void)|undefined}
 */
function changeOf(key) {
  return {
    "+": () => zoomAt(STEP, 0, 0),
    "=": () => zoomAt(STEP, 0, 0),
    "-": () => zoomAt(1 / STEP, 0, 0),
    Home: () => panTo(0, 0, 1),
    ArrowLeft: () => panTo(zoom.x + PAN, zoom.y),
    ArrowRight: () => panTo(zoom.x - PAN, zoom.y),
    ArrowUp: () => panTo(zoom.x, zoom.y + PAN),
    ArrowDown: () => panTo(zoom.x, zoom.y - PAN),
  }[key];
}
