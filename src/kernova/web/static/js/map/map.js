/** The map of all rows: view, find and label rows, outside a question. */

import { RequestError, Unreachable, get, getNumbers } from "../api.js";
import { button, byId, element, fill, say } from "../dom.js";
import { readCard, thumbnail } from "../media.js";
import { isSeen, onShown } from "../router.js";
import { openRow } from "../row_dialog.js";
import { NO_LABEL, rowLabels } from "../row_labels.js";
import { categories, listen, store } from "../store.js";
import { onTheme } from "../theme.js";
import { worded } from "../words.js";
import { nameBoxed } from "./boxed.js";
import { Camera } from "./camera.js";
import { canvasLayer } from "./canvas_layer.js";
import { colourSelect, offerColours } from "./colours.js";
import { rowFinder } from "./finder.js";
import { startGestures } from "./gestures.js";
import { showLegend } from "./legend.js";
import { Picking } from "./picking.js";
import { pointStyles } from "./point_styles.js";
import { Refinement } from "./refinement.js";
import { webglLayer } from "./webgl_layer.js";

const REACH_PX = 12;
/** From this zoom on, what lies in the middle stays there while the points move. */
const NEAR_ZOOM = 1.3;
/** Pauses between two looks at a map that is being refined. */
const PAUSE_MS = 1500;
const camera = new Camera();
const placed = new Refinement();
/** @type {ReturnType<typeof build>|null} */
let built = null;
/** @type {Picking|null} */
let picking = null;
/** Points that came while a box was being drawn. @type {Float32Array<ArrayBuffer>|null} */
let waiting = null;
let labels = new Uint16Array();
/** @type {"labels"|"learnt"|"added"} */
let coloured = "labels";
/** Which labels are accepted suggestions; null where there are none. @type {Uint16Array<ArrayBuffer>|null} */
let accepted = null;
let hovered = -1;
let hidden = -1;
let frame = 0;
let looking = 0;
/** @type {Promise<void>} */
let catching = Promise.resolve();
const got = { points: "", labels: "" };

/** Build the view. */
export function startMap() {
  onShown("map", () => void catchUp());
  listen(["state"], () => isSeen("map") && void catchUp());
  listen(["question"], () => built && (hiddenRow() === hidden ? showRings() : restyle()));
  onTheme(() => built && restyle());
}

/** The parts of the view, built when they are first needed. */
function view() {
  built ??= build();
  return built;
}

function build() {
  const canvas = element("canvas", { class: "map-canvas", tabindex: "0", role: "application", "aria-label": worded("Map of all rows. Arrow keys pan, plus and minus zoom, Enter opens the row at the centre."), "data-testid": "map-canvas" });
  const ring = element("i", { class: "map-ring now", title: "current question", hidden: true });
  const spot = element("i", { class: "map-ring", hidden: true });
  const box = element("i", { class: "map-box", hidden: true });
  const tip = element("div", { class: "map-tip", hidden: true, "data-testid": "map-tip" });
  const stage = element("div", { class: "map-stage" }, canvas, element("i", { class: "map-cross", "aria-hidden": "true" }), ring, spot, box, tip);
  const words = element("p", { class: "hint map-words", "data-testid": "map-words" });
  const legend = element("ul", { class: "legend", "aria-label": "Legend", "data-testid": "legend" });
  /** @type {(sign: string, factor: number, name: string) => HTMLElement} */
  const zoom = (sign, factor, name) => button(sign, () => (camera.zoomAt(factor), draw()), { class: "small icon-only", "aria-label": name });
  const tools = element("div", { class: "map-tools" }, zoom("+", 1.6, "Zoom in"), zoom("−", 1 / 1.6, "Zoom out"),
    button("All", () => (camera.fit(), draw()), { class: "small", "aria-label": worded("Show all rows") }));
  const colour = colourSelect((chosen) => void recolour(chosen));
  stage.append(tools);
  fill(byId("view-map"),
    element("header", { class: "view-head" }, element("h1", { id: "map-heading" }, "Map"), rowFinder((row) => void find(row)), colour),
    words, stage, legend);
  const webgl = webglLayer(canvas);
  const usable = webgl ? canvas : replaced(canvas);
  const layer = webgl ?? canvasLayer(usable);
  stage.dataset.layer = layer.kind;
  startGestures(usable, camera, { onMove: move, onRest: rest, onHover: hover, onClick: click, onBox: choose });
  usable.addEventListener("webglcontextlost", (event) => event.preventDefault());
  usable.addEventListener("webglcontextrestored", () => location.reload());
  new ResizeObserver(resize).observe(stage);
  return { layer, canvas: usable, stage, ring, spot, box, tip, words, legend, colour };
}

/**
 * A canvas that was asked for WebGL in vain may give nothing else: use a new one.
 * @param {HTMLCanvasElement} canvas
 */
function replaced(canvas) {
  const fresh = /** @type {HTMLCanvasElement} */ (canvas.cloneNode());
  canvas.replaceWith(fresh);
  return fresh;
}

/** Updates run one after the other. */
function catchUp() {
  catching = catching.catch(() => {}).then(catchUpOnce);
  return catching;
}

async function catchUpOnce() {
  const { colour, words } = view();
  resize();
  offerColours(colour);
  if (colour.value !== coloured) coloured = "labels";
  try {
    await readPoints();
    await readLabels();
  } catch (error) {
    if (!(error instanceof RequestError || error instanceof Unreachable)) throw error;
    say(words, "The map is not available yet.");
    setTimeout(() => isSeen("map") && void catchUp(), 3000);
  }
}

async function readPoints() {
  const map = await get("/api/map");
  const key = `${map.kind} ${map.rows}`;
  say(view().words, [worded(map.words), betterWords(map.better)].filter(Boolean).join(" "));
  if (map.better.state === "running") {
    clearTimeout(looking);
    looking = setTimeout(() => isSeen("map") && void catchUp(), PAUSE_MS);
  }
  if (key === got.points) return;
  const { buffer } = await getNumbers("/api/map/points");
  const points = new Float32Array(buffer);
  // A box on the screen selects what was in it when it was begun.
  if (view().box.hidden) refine(points);
  else waiting = points;
  view().stage.dataset.kind = map.kind;
  Object.assign(got, { points: key, labels: points.length / 2 === labels.length ? got.labels : "" });
}

/** @param {import("../types.js").BetterMap} better */
function betterWords({ state, left }) {
  if (state === "failed") return "A better map could not be computed.";
  return state === "running" && `A better map is being computed${left ? `: ${left}` : ""}.`;
}

/**
 * Move the points to where a better map has them: the zoom stays, and so does what is looked at.
 * @param {Float32Array<ArrayBuffer>} points
 */
function refine(points) {
  placed.begin(points, anchorRow());
  picking = null;
  view().layer.setPoints(placed.from, placed.to);
  draw();
}

/** The row whose place on the screen stays: that under the pointer or, of a part of the map, the one in the middle. */
function anchorRow() {
  if (!picking || camera.zoom < NEAR_ZOOM) return -1;
  return hovered >= 0 ? hovered : picking.nearest(camera.x, camera.y, Math.max(camera.wide, camera.high) / 2 / camera.scale);
}

async function readLabels() {
  const key = `${store.state?.version} ${store.state?.learn?.version} ${coloured}`;
  if (key === got.labels) return;
  const hasAccepted = coloured === "labels" && (store.state?.accepted ?? 0) > 0;
  const [now, marks] = await Promise.all([rowLabels(coloured), hasAccepted ? rowLabels("accepted") : null]);
  labels = now.labels;
  accepted = marks?.labels.length === labels.length ? marks.labels : null;
  if (labels.length !== placed.rows) return;
  got.labels = key;
  restyle();
}

/** @param {"labels"|"learnt"|"added"} chosen */
async function recolour(chosen) {
  coloured = chosen;
  await readLabels();
}

/** The row whose label is not to be seen: it is asked about for comparison. */
function hiddenRow() {
  return store.question?.is_blind ? store.question.row : -1;
}

function restyle() {
  hidden = hiddenRow();
  const shown = hidden < 0 ? labels : labels.slice();
  if (hidden >= 0) shown[hidden] = NO_LABEL;
  view().layer.setStyles(pointStyles(shown, categories(), accepted));
  showLegend(view().legend, categories(), labels, { isOfBatch: coloured === "added", nAccepted: accepted === null ? 0 : store.state?.accepted ?? 0 });
  draw();
}

function resize() {
  // The observer of the size may call while the view is being built.
  if (!built) return;
  const { canvas, stage } = built;
  const { clientWidth: wide, clientHeight: high } = stage;
  const ratio = Math.min(2, devicePixelRatio || 1);
  if (wide === 0 || (camera.wide === wide && camera.high === high && canvas.width === Math.round(wide * ratio))) return;
  camera.resize(wide, high);
  Object.assign(canvas, { width: Math.round(wide * ratio), height: Math.round(high * ratio) });
  draw();
}

/** Draw once in the next frame, however often it is requested. */
function draw() {
  if (!frame) frame = requestAnimationFrame(paint);
}

/** @param {number} now */
function paint(now) {
  frame = 0;
  const { layer, stage } = view();
  const [right, up] = placed.step(now);
  camera.x += right;
  camera.y += up;
  layer.draw(camera, Math.min(2, devicePixelRatio || 1), placed.moved);
  showRings();
  stage.dataset.frames = String(Number(stage.dataset.frames ?? 0) + 1);
  stage.dataset.zoom = camera.zoom.toFixed(3);
  stage.dataset.refining = placed.moved < 1 ? "yes" : "no";
  if (placed.moved < 1) draw();
  else if (!picking && placed.rows > 0) picking = new Picking(placed.to);
}

/** Mark the current question and the row under the pointer; the points need not be drawn again. */
function showRings() {
  const { ring, spot } = view();
  ringAround(ring, store.question?.row ?? -1);
  ringAround(spot, hovered);
}

/**
 * @param {HTMLElement} ring
 * @param {number} row
 */
function ringAround(ring, row) {
  const isThere = row >= 0 && row < placed.rows;
  ring.hidden = !isThere;
  if (!isThere) return;
  const [left, top] = camera.toScreen(...placed.at(row));
  ring.style.transform = `translate(${left}px, ${top}px)`;
}

function move() {
  hover(null);
  draw();
}

function rest() {
  if (waiting) refine(waiting);
  waiting = null;
  draw();
}

/**
 * @param {number} left
 * @param {number} top
 * @param {number} reach
 */
function rowAt(left, top, reach = REACH_PX) {
  return picking ? picking.nearest(...camera.toMap(left, top), reach / camera.scale) : -1;
}

/** @param {import("./gestures.js").Position|null} at */
function hover(at) {
  const row = at === null ? -1 : rowAt(...at);
  view().canvas.classList.toggle("over-row", row >= 0);
  if (row === hovered) return;
  hovered = row;
  view().tip.hidden = true;
  showRings();
  if (row >= 0) setTimeout(() => hovered === row && void showTip(row), 80);
}

/** @param {number} row */
async function showTip(row) {
  const card = await readCard(row).catch(() => null);
  if (!card || hovered !== row) return;
  const { tip } = view();
  fill(tip, element("b", {}, card.id), element("span", {}, card.label ?? "unlabelled"), thumbnail(row));
  const [left, top] = camera.toScreen(...placed.at(row));
  tip.hidden = false;
  const { offsetWidth: wide, offsetHeight: high } = tip;
  const x = left + 14 + wide > camera.wide ? left - 14 - wide : left + 14;
  const y = Math.max(4, Math.min(camera.high - high - 4, top - high / 2));
  tip.style.transform = `translate(${Math.max(4, x)}px, ${y}px)`;
}

/**
 * @param {number} left
 * @param {number} top
 * @param {boolean} isByKey
 */
function click(left, top, isByKey) {
  const row = rowAt(left, top, isByKey ? 80 : REACH_PX);
  if (row >= 0) void openRow(row);
}

/** @param {number} row */
function find(row) {
  hovered = row;
  camera.reveal(...placed.at(row));
  draw();
  void openRow(row);
}

/**
 * A box drawn with Shift selects the unlabelled rows in it, to be labelled in one step.
 * @param {import("./gestures.js").Box|null} corners
 * @param {boolean} isDone
 */
async function choose(corners, isDone) {
  const { box } = view();
  box.hidden = corners === null || isDone;
  if (corners === null) return;
  const [left, right] = [corners[0], corners[2]].sort((a, b) => a - b);
  const [top, bottom] = [corners[1], corners[3]].sort((a, b) => a - b);
  Object.assign(box.style, { left: `${left}px`, top: `${top}px`, width: `${right - left}px`, height: `${bottom - top}px` });
  if (!isDone || !picking) return;
  const [x1, y2] = camera.toMap(left, top);
  const [x2, y1] = camera.toMap(right, bottom);
  const rows = picking.within(x1, y1, x2, y2).filter((row) => labels[row] === NO_LABEL && row !== store.question?.row);
  if (rows.length > 0) await nameBoxed(rows);
}
