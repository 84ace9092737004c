/** How many categories were discovered after each question, and how many random sampling would be expected to discover. */

import { byId, drawn, element, fill } from "./dom.js";
import { isSeen, onShown } from "./router.js";
import { ticks } from "./sound.js";
import { listen, store } from "./store.js";
import { counted, whole } from "./words.js";

/** @typedef {{wide: number, high: number, questions: number, most: number, x: (question: number) => number, y: (count: number) => number}} Scales */

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
    element("p", { class: "curve-legend" }, legendLine("discovered", "categories discovered"), legendLine("baseline", "expected with random sampling")),
    figure, readout, advice);
  new ResizeObserver(() => show(true)).observe(figure);
  figure.addEventListener("pointermove", (event) => point(event.clientX));
  figure.addEventListener("pointerleave", () => point(null));
  return { figure, readout, advice };
}

/**
 * @param {string} kind
 * @param {string} words
 */
function legendLine(kind, words) {
  const line = drawn("svg", { viewBox: "0 0 28 6", "aria-hidden": "true" }, drawn("path", { class: kind, d: "M0 3H28" }));
  return element("span", {}, line, words);
}

function show(isResized = false) {
  parts ??= build();
  const { state } = store;
  const wide = parts.figure.clientWidth;
  if (!state || wide === 0) return;
  const signature = `${state.version} ${wide} ${parts.figure.clientHeight}`;
  if (!isResized && signature === shownFor) return;
  shownFor = signature;
  const { curve } = state;
  const baseline = baselineOf(state);
  scales = scalesFor(curve, baseline, wide, parts.figure.clientHeight || 220);
  fill(parts.figure, drawing(curve, baseline, scales));
  fill(parts.readout, standing(curve, baseline));
  fill(parts.advice, ...adviceParts(state.advice));
}

/**
 * @param {number[]} curve
 * @param {number[]} baseline
 * @param {number} wide
 * @param {number} high
 * @returns {Scales}
 */
function scalesFor(curve, baseline, wide, high) {
  const questions = Math.max(10, curve.length, baseline.length);
  const most = Math.max(4, largest(curve), largest(baseline)) * 1.08;
  return {
    wide, high, questions, most,
    x: (question) => MARGIN.left + (question / questions) * (wide - MARGIN.left - MARGIN.right),
    y: (count) => high - MARGIN.bottom - (count / most) * (high - MARGIN.top - MARGIN.bottom),
  };
}

/**
 * @param {number[]} curve
 * @param {number[]} baseline
 * @param {Scales} scales
 */
function drawing(curve, baseline, scales) {
  const { wide, high } = scales;
  const words = standing(curve, baseline);
  return drawn("svg", { width: wide, height: high, viewBox: `0 0 ${wide} ${high}`, role: "img", "aria-label": words },
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

/**
 * Categories that random sampling is expected to discover; what cannot be estimated comes as null.
 * @param {import("./types.js").StateReply} state
 */
function baselineOf({ by_lot: baseline }) {
  return baseline.filter((value) => value !== null);
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
 * @param {number[]} curve
 * @param {number[]} baseline
 * @param {number} question
 */
function standing(curve, baseline, question = curve.length) {
  if (curve.length === 0) return "No questions answered yet.";
  const discovered = counted(curve[question - 1], "category", "categories");
  const random = baseline[question - 1];
  const expected = random === undefined ? "" : ` Random sampling would be expected to have discovered ${random.toFixed(1)} of them.`;
  return `After ${counted(question, "question")}: ${discovered} discovered.${expected}`;
}

/**
 * Show the numbers at the question under the pointer.
 * @param {number|null} clientX
 */
function point(clientX) {
  const line = parts?.figure.querySelector(".pointer");
  if (!parts || !scales || !store.state || !line || store.state.curve.length === 0) return;
  const { curve } = store.state;
  const baseline = baselineOf(store.state);
  const { left } = parts.figure.getBoundingClientRect();
  const fraction = clientX === null ? 1 : (clientX - left - MARGIN.left) / (scales.x(scales.questions) - MARGIN.left);
  const question = Math.min(curve.length, Math.max(1, Math.round(fraction * scales.questions)));
  const x = clientX === null ? -9 : scales.x(question);
  line.setAttribute("x1", String(x));
  line.setAttribute("x2", String(x));
  fill(parts.readout, standing(curve, baseline, clientX === null ? curve.length : question));
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
