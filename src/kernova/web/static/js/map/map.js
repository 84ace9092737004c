/** The map of all rows: look, find, and name out of turn. */

import { labelRows } from "../actions.js";
import { Refusal, Unreachable, get, getNumbers } from "../api.js";
import { button, byId, element, fill, say } from "../dom.js";
import { readCard, thumbnail } from "../media.js";
import { askName } from "../naming.js";
import { isSeen, onShown } from "../router.js";
import { openRow } from "../row_dialog.js";
import { NO_LABEL, rowLabels } from "../row_labels.js";
import { categories, listen, store } from "../store.js";
import { onTheme } from "../theme.js";
import { counted } from "../words.js";
import { Camera } from "./camera.js";
import { canvasLayer } from "./canvas_layer.js";
import { rowFinder } from "./finder.js";
import { startGestures } from "./gestures.js";
import { showLegend } from "./legend.js";
import { Picking } from "./picking.js";
import { pointStyles } from "./point_styles.js";
import { webglLayer } from "./webgl_layer.js";

const REACH_PX = 12;
const camera = new Camera();
let parts = null;
let layer = null;
let picking = null;
let points = new Float32Array();
let labels = new Uint16Array();
let coloured = "labels";
let hovered = -1;
let isMoving = false;
let frame = 0;
let catching = Promise.resolve();
const got = { points: "", labels: "" };

/** Build the view. */
export function startMap() {
  onShown("map", () => void catchUp());
  listen("state", () => isSeen("map") && void catchUp());
  listen("question", () => parts && draw());
  onTheme(() => parts && restyle());
}

function build() {
  const canvas = element("canvas", { class: "map-canvas", tabindex: "0", role: "application", "aria-label": "Map of all rows. Arrows move, plus and minus zoom, Enter looks at the row in the middle.", "data-testid": "map-canvas" });
  const ring = element("i", { class: "map-ring now", title: "the question", hidden: true });
  const spot = element("i", { class: "map-ring", hidden: true });
  const box = element("i", { class: "map-box", hidden: true });
  const tip = element("div", { class: "map-tip", hidden: true, "data-testid": "map-tip" });
  const stage = element("div", { class: "map-stage" }, canvas, element("i", { class: "map-cross", "aria-hidden": "true" }), ring, spot, box, tip);
  const words = element("p", { class: "hint map-words", "data-testid": "map-words" });
  const legend = element("ul", { class: "legend", "aria-label": "Legend", "data-testid": "legend" });
  const zoom = (sign, factor, name) => button(sign, () => (camera.zoomAt(factor), draw()), { class: "small icon-only", "aria-label": name });
  const tools = element("div", { class: "map-tools" }, zoom("+", 1.6, "Zoom in"), zoom("−", 1 / 1.6, "Zoom out"),
    button("All", () => (camera.fit(), draw()), { class: "small", "aria-label": "Show all rows" }));
  const colour = element("select", { "aria-label": "Colours of the map", class: "small", "data-testid": "map-colour", on: { change: () => void recolour(colour.value) } },
    element("option", { value: "labels" }, "as named"), element("option", { value: "learnt" }, "as learnt"));
  stage.append(tools);
  fill(byId("view-map"),
    element("header", { class: "view-head" }, element("h1", { id: "map-heading" }, "Map"), rowFinder((row) => void find(row)), colour),
    words, stage, legend);
  layer = webglLayer(canvas);
  const usable = layer ? canvas : replaced(canvas);
  layer ??= canvasLayer(usable);
  stage.dataset.layer = layer.kind;
  startGestures(usable, camera, { onMove: move, onRest: rest, onHover: hover, onClick: click, onBox: choose });
  usable.addEventListener("webglcontextlost", (event) => event.preventDefault());
  usable.addEventListener("webglcontextrestored", () => location.reload());
  new ResizeObserver(resize).observe(stage);
  return { canvas: usable, stage, ring, spot, box, tip, words, legend, colour };
}

/** A canvas that was asked for WebGL in vain may give nothing else: take a new one. */
function replaced(canvas) {
  const fresh = canvas.cloneNode();
  canvas.replaceWith(fresh);
  return fresh;
}

/** One after the other: what is asked for meanwhile follows. */
function catchUp() {
  catching = catching.catch(() => {}).then(catchUpOnce);
  return catching;
}

async function catchUpOnce() {
  parts ??= build();
  resize();
  parts.colour.hidden = store.state?.learn?.state !== "ready";
  if (parts.colour.hidden) coloured = "labels";
  try {
    await readPoints();
    await readLabels();
  } catch (error) {
    if (!(error instanceof Refusal || error instanceof Unreachable)) throw error;
    say(parts.words, "The map is not there yet.");
    setTimeout(() => isSeen("map") && void catchUp(), 3000);
  }
}

async function readPoints() {
  const map = await get("/api/map");
  const key = `${map.kind} ${map.rows}`;
  say(parts.words, [map.words, map.better?.state === "running" && "A better one is being worked out."].filter(Boolean).join(" "));
  if (map.better?.state === "running") setTimeout(() => isSeen("map") && void catchUp(), 3000);
  if (key === got.points) return;
  const { buffer } = await getNumbers("/api/map/points");
  points = new Float32Array(buffer);
  picking = new Picking(points);
  layer.setPoints(points);
  Object.assign(got, { points: key, labels: "" });
}

async function readLabels() {
  const key = `${store.state?.version} ${coloured} ${got.points}`;
  if (key === got.labels) return;
  ({ labels } = await rowLabels(coloured));
  if (labels.length !== points.length / 2) return;
  got.labels = key;
  restyle();
}

async function recolour(chosen) {
  coloured = chosen;
  await readLabels();
}

function restyle() {
  layer.setStyles(pointStyles(labels, categories()));
  showLegend(parts.legend, categories(), labels);
  draw();
}

function resize() {
  const { clientWidth: wide, clientHeight: high } = parts.stage;
  const ratio = Math.min(2, devicePixelRatio || 1);
  if (wide === 0 || (camera.wide === wide && camera.high === high && parts.canvas.width === Math.round(wide * ratio))) return;
  camera.resize(wide, high);
  Object.assign(parts.canvas, { width: Math.round(wide * ratio), height: Math.round(high * ratio) });
  draw();
}

/** Draw once in the next frame, however often it is asked for. */
function draw() {
  if (!frame) frame = requestAnimationFrame(paint);
}

function paint() {
  frame = 0;
  layer.draw(camera, Math.min(2, devicePixelRatio || 1), isMoving);
  ringAround(parts.ring, store.question?.row ?? -1);
  ringAround(parts.spot, hovered);
  parts.stage.dataset.frames = String(Number(parts.stage.dataset.frames ?? 0) + 1);
}

function ringAround(ring, row) {
  const isThere = row >= 0 && 2 * row < points.length;
  ring.hidden = !isThere;
  if (!isThere) return;
  const [left, top] = camera.toScreen(points[2 * row], points[2 * row + 1]);
  ring.style.transform = `translate(${left}px, ${top}px)`;
}

function move() {
  isMoving = true;
  hover(null);
  draw();
}

function rest() {
  isMoving = false;
  draw();
}

function rowAt(left, top, reach = REACH_PX) {
  return picking ? picking.nearest(...camera.toMap(left, top), reach / camera.scale) : -1;
}

function hover(left, top) {
  const row = left === null ? -1 : rowAt(left, top);
  parts.canvas.classList.toggle("over-row", row >= 0);
  if (row === hovered) return;
  hovered = row;
  parts.tip.hidden = true;
  draw();
  if (row >= 0) setTimeout(() => hovered === row && void showTip(row), 80);
}

async function showTip(row) {
  const card = await readCard(row).catch(() => null);
  if (!card || hovered !== row) return;
  fill(parts.tip, element("b", {}, card.id), element("span", {}, card.label ?? "no name yet"), thumbnail(row));
  const [left, top] = camera.toScreen(points[2 * row], points[2 * row + 1]);
  parts.tip.hidden = false;
  const { offsetWidth: wide, offsetHeight: high } = parts.tip;
  const x = left + 14 + wide > camera.wide ? left - 14 - wide : left + 14;
  const y = Math.max(4, Math.min(camera.high - high - 4, top - high / 2));
  parts.tip.style.transform = `translate(${Math.max(4, x)}px, ${y}px)`;
}

function click(left, top, isByKey = false) {
  const row = rowAt(left, top, isByKey ? 80 : REACH_PX);
  if (row >= 0) void openRow(row);
}

function find(row) {
  hovered = row;
  camera.reveal(points[2 * row], points[2 * row + 1]);
  draw();
  void openRow(row);
}

/** A box drawn with Shift chooses the rows without a name in it, to be named in one step. */
async function choose(corners, isDone) {
  parts.box.hidden = corners === null || isDone;
  if (corners === null) return;
  const [left, right] = [corners[0], corners[2]].sort((a, b) => a - b);
  const [top, bottom] = [corners[1], corners[3]].sort((a, b) => a - b);
  Object.assign(parts.box.style, { left: `${left}px`, top: `${top}px`, width: `${right - left}px`, height: `${bottom - top}px` });
  if (!isDone || !picking) return;
  const [x1, y2] = camera.toMap(left, top);
  const [x2, y1] = camera.toMap(right, bottom);
  const rows = picking.within(x1, y1, x2, y2).filter((row) => labels[row] === NO_LABEL && row !== store.question?.row);
  if (rows.length > 0) await nameRows(rows);
}

async function nameRows(rows) {
  const thumbs = element("div", { class: "thumb-row" }, ...rows.slice(0, 24).map((row) => thumbnail(row)));
  const name = await askName({ title: `Name ${counted(rows.length, "row")} together`, words: `The rows in the box that have no name yet${rows.length > 24 ? ", the first 24 of them here" : ""}. One undo takes it back.`, extra: [thumbs] });
  if (name !== null) await labelRows(rows, name);
}
