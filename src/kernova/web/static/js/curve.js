/** How many categories were discovered after each question, and how many random sampling would be expected to discover. */

import { byId, drawn, element, fill } from "./dom.js";
import { isSeen, onShown } from "./router.js";
import { ticks } from "./sound.js";
import { listen, store } from "./store.js";
import { counted, whole, worded } from "./words.js";

/** @typedef {import("./types.js").StateReply} State */
/** @typedef {import("./types.js").Band} Band */
/** @typedef {{wide: number, high: number, questions: number, most: number, x: (question: number) => number, y: (count: number) => number}} Scales */

const ORIGIN_OF_BASELINE = "The expectation is estimated from the rows labelled so far. On tables with known categories, the true one was outside the band in about one of four cases.";
// More steps than a screen has pixels cannot be seen.
const MOST_DRAWN = 4000;
const MARGIN = { left: 34, right: 14, top: 12, bottom: 34 };
/** @type {ReturnType<typeof build>|null} */
let parts = null;
/** @type {Scales|null} */
let scales = null;
let shownFor = "";

/** Build the view. */
export function startCurve() {
  onShown("curve", show);
  listen(["state"], () => isSeen("curve") && show());
}

function build() {
  const figure = element("div", { class: "curve-figure", "data-testid": "curve" });
  const readout = element("p", { class: "hint", "data-testid": "curve-words" });
  const advice = element("div", { class: "advice", "data-testid": "advice" });
  fill(byId("view-curve"),
    element("header", { class: "view-head" }, element("h1", { id: "curve-heading" }, "Discovery curve")),
    element("p", { class: "curve-legend" }, legendEntry("discovered", "categories discovered"),
      legendEntry("baseline", "expected with random sampling"), legendEntry("band", "band of that estimate", "M0 0H28V6H0Z")),
    figure, readout, element("p", { class: "hint" }, worded(ORIGIN_OF_BASELINE)), advice);
  new ResizeObserver(() => show(true)).observe(figure);
  figure.addEventListener("pointermove", (event) => point(event.clientX));
  figure.addEventListener("pointerleave", () => point(null));
  return { figure, readout, advice };
}

/**
 * @param {string} kind
 * @param {string} words
 * @param {string} shape
 */
function legendEntry(kind, words, shape = "M0 3H28") {
  const sample = drawn("svg", { viewBox: "0 0 28 6", "aria-hidden": "true" }, drawn("path", { class: kind, d: shape }));
  return element("span", {}, sample, words);
}

function show(isResized = false) {
  parts ??= build();
  const { state } = store;
  const wide = parts.figure.clientWidth;
  if (!state || wide === 0) return;
  const signature = `${state.version} ${wide} ${parts.figure.clientHeight}`;
  if (!isResized && signature === shownFor) return;
  shownFor = signature;
  scales = scalesFor(state, wide, parts.figure.clientHeight || 220);
  fill(parts.figure, drawing(state, scales));
  fill(parts.readout, standing(state));
  fill(parts.advice, ...adviceParts(state.advice));
}

/**
 * @param {State} state
 * @param {number} wide
 * @param {number} high
 * @returns {Scales}
 */
function scalesFor({ curve, by_lot: baseline, baseline_band: band }, wide, high) {
  const questions = Math.max(10, curve.length);
  const most = Math.max(4, largest(curve), largest(baseline), largest(band.high)) * 1.08;
  return {
    wide, high, questions, most,
    x: (question) => MARGIN.left + (question / questions) * (wide - MARGIN.left - MARGIN.right),
    y: (count) => high - MARGIN.bottom - (count / most) * (high - MARGIN.top - MARGIN.bottom),
  };
}

/**
 * @param {State} state
 * @param {Scales} scales
 */
function drawing(state, scales) {
  const { wide, high } = scales;
  const { curve, by_lot: baseline, baseline_band: band } = state;
  return drawn("svg", { width: wide, height: high, viewBox: `0 0 ${wide} ${high}`, role: "img", "aria-label": standing(state) },
    band.questions.length > 0 && drawn("path", { class: "band", d: bandPath(band, scales) }),
    ...axes(scales),
    baseline.length > 0 && drawn("path", { class: "baseline", d: smoothPath(baseline, scales) }),
    drawn("path", { class: "discovered", d: stepPath(curve, scales) }),
    drawn("line", { class: "pointer", y1: MARGIN.top, y2: high - MARGIN.bottom, x1: -9, x2: -9 }));
}

/** @param {Scales} scales */
function axes(scales) {
  const { wide, high } = scales;
  const lines = ticks(0, scales.most, 4).filter(Number.isInteger).flatMap((count) => [
    drawn("line", { class: "grid", x1: MARGIN.left, x2: wide - MARGIN.right, y1: scales.y(count), y2: scales.y(count) }),
    drawn("text", { class: "tick", x: MARGIN.left - 6, y: scales.y(count) + 4, "text-anchor": "end" }, count),
  ]);
  const marks = ticks(0, scales.questions, wide > 500 ? 8 : 4).filter(Number.isInteger).map((question) =>
    drawn("text", { class: "tick", x: scales.x(question), y: high - MARGIN.bottom + 16, "text-anchor": "middle" }, whole(question)));
  return [...lines, ...marks, drawn("text", { class: "tick name", x: wide - MARGIN.right, y: high - 3, "text-anchor": "end" }, "questions asked")];
}

/** Where both begin: the categories known before any question. */
function origin() {
  return store.state?.known_before ?? 0;
}

/**
 * The largest value; a call with a hundred thousand arguments would fail.
 * @param {number[]} values
 */
function largest(values) {
  return values.reduce((most, value) => Math.max(most, value), 0);
}

/**
 * The positions to draw: all, or where there are very many, evenly spaced ones and the last.
 * @param {number[]} values
 */
function drawnPositions(values) {
  const step = Math.max(1, Math.ceil(values.length / MOST_DRAWN));
  const positions = [];
  for (let index = step - 1; index < values.length; index += step) positions.push(index);
  if (values.length > 0 && positions.at(-1) !== values.length - 1) positions.push(values.length - 1);
  return positions;
}

/**
 * Each question raises the count at once or leaves it.
 * @param {number[]} curve
 * @param {Scales} scales
 */
function stepPath(curve, { x, y }) {
  return `M${x(0)} ${y(origin())}` + drawnPositions(curve).map((index) => `H${x(index + 1).toFixed(1)}V${y(curve[index]).toFixed(1)}`).join("");
}

/**
 * @param {number[]} baseline
 * @param {Scales} scales
 */
function smoothPath(baseline, { x, y }) {
  return `M${x(0)} ${y(origin())}` + drawnPositions(baseline).map((index) => `L${x(index + 1).toFixed(1)} ${y(baseline[index]).toFixed(1)}`).join("");
}

/**
 * The area between the limits, from the common origin.
 * @param {Band} band
 * @param {Scales} scales
 */
function bandPath({ questions, low, high }, { x, y }) {
  /** @type {(limits: number[], index: number) => string} */
  const corner = (limits, index) => `L${x(questions[index]).toFixed(1)} ${y(limits[index]).toFixed(1)}`;
  const forth = questions.map((_, index) => corner(high, index));
  const back = questions.map((_, index) => corner(low, index)).reverse();
  return `M${x(0)} ${y(origin())}${forth.join("")}${back.join("")}Z`;
}

/**
 * A limit at a question, straight between those that are known.
 * @param {number[]} questions
 * @param {number[]} limits
 * @param {number} question
 */
function limitAt(questions, limits, question) {
  const after = questions.findIndex((known) => known >= question);
  if (after <= 0) return limits[0];
  const fraction = (question - questions[after - 1]) / (questions[after] - questions[after - 1]);
  return limits[after - 1] + fraction * (limits[after] - limits[after - 1]);
}

/**
 * @param {State} state
 * @param {number} question
 */
function standing({ curve, by_lot: baseline, baseline_band: band }, question = curve.length) {
  if (curve.length === 0) return "No questions answered yet.";
  const discovered = counted(curve[question - 1], "category", "categories");
  const random = baseline[question - 1];
  if (random === undefined) return `After ${counted(question, "question")}: ${discovered} discovered.`;
  const [low, high] = [band.low, band.high].map((limits) => limitAt(band.questions, limits, question).toFixed(1));
  return `After ${counted(question, "question")}: ${discovered} discovered. Random sampling would be expected to have discovered about ${random.toFixed(1)} (${low} to ${high}).`;
}

/**
 * Show the numbers at the question under the pointer.
 * @param {number|null} clientX
 */
function point(clientX) {
  const line = parts?.figure.querySelector(".pointer");
  if (!parts || !scales || !store.state || !line || store.state.curve.length === 0) return;
  const { curve } = store.state;
  const { left } = parts.figure.getBoundingClientRect();
  const fraction = clientX === null ? 1 : (clientX - left - MARGIN.left) / (scales.x(scales.questions) - MARGIN.left);
  const question = Math.min(curve.length, Math.max(1, Math.round(fraction * scales.questions)));
  const x = clientX === null ? -9 : scales.x(question);
  line.setAttribute("x1", String(x));
  line.setAttribute("x2", String(x));
  fill(parts.readout, standing(store.state, clientX === null ? curve.length : question));
}

/**
 * What is known and what is estimated are kept apart, in the server's words.
 * @param {import("./types.js").Advice} advice
 */
function adviceParts(advice) {
  /** @type {(title: string, sentences: string[], kind: string) => Node|false} */
  const part = (title, sentences, kind) => sentences.length > 0 && element("section", { class: kind },
    element("h2", {}, title), ...sentences.map((sentence) => element("p", {}, sentence)));
  // The heading says that it is an estimate: the sentence need not repeat it.
  const guessed = advice.guessed.map((sentence) => sentence.replace(/^(?:Guess|Estimate): ./, (start) => start.slice(-1).toUpperCase()));
  return [part("Known", advice.known, "known"), part("Estimated", guessed, "guessed")];
}
