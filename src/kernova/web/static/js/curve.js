/** How many categories were met after each question, beside what asking by lot would be expected to meet. */

import { byId, drawn, element, fill } from "./dom.js";
import { isSeen, onShown } from "./router.js";
import { ticks } from "./sound.js";
import { listen, store } from "./store.js";
import { counted, whole } from "./words.js";

const MARGIN = { left: 34, right: 14, top: 12, bottom: 34 };
let parts = null;
let shownFor = "";

/** Build the view. */
export function startCurve() {
  onShown("curve", show);
  listen("state", () => isSeen("curve") && show());
}

function build() {
  const figure = element("div", { class: "curve-figure", "data-testid": "curve" });
  const readout = element("p", { class: "hint", "data-testid": "curve-words" });
  const advice = element("div", { class: "advice", "data-testid": "advice" });
  fill(byId("view-curve"),
    element("header", { class: "view-head" }, element("h1", { id: "curve-heading" }, "Discovery curve")),
    element("p", { class: "curve-legend" }, legendLine("met", "categories met"), legendLine("by-lot", "expected by lot")),
    figure, readout, advice);
  new ResizeObserver(() => show(true)).observe(figure);
  figure.addEventListener("pointermove", (event) => point(event.clientX));
  figure.addEventListener("pointerleave", () => point(null));
  return { figure, readout, advice, atQuestion: null };
}

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
  const byLot = (state.by_lot ?? []).filter((value) => value !== null);
  parts.scales = scalesFor(state.curve, byLot, wide, parts.figure.clientHeight || 220);
  fill(parts.figure, drawing(state.curve, byLot, parts.scales));
  fill(parts.readout, standing(state.curve, byLot));
  fill(parts.advice, ...adviceParts(state.advice));
}

function scalesFor(curve, byLot, wide, high) {
  const questions = Math.max(10, curve.length, byLot.length);
  const most = Math.max(4, ...curve, ...byLot) * 1.08;
  return {
    wide, high, questions, most,
    x: (question) => MARGIN.left + (question / questions) * (wide - MARGIN.left - MARGIN.right),
    y: (count) => high - MARGIN.bottom - (count / most) * (high - MARGIN.top - MARGIN.bottom),
  };
}

function drawing(curve, byLot, scales) {
  const { wide, high } = scales;
  const words = standing(curve, byLot);
  return drawn("svg", { width: wide, height: high, viewBox: `0 0 ${wide} ${high}`, role: "img", "aria-label": words },
    ...axes(scales),
    byLot.length > 0 && drawn("path", { class: "by-lot", d: smoothPath(byLot, scales) }),
    drawn("path", { class: "met", d: stepPath(curve, scales) }),
    drawn("line", { class: "pointer", y1: MARGIN.top, y2: high - MARGIN.bottom, x1: -9, x2: -9 }));
}

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

/** Where both begin: what was known before any question. */
function start() {
  return store.state.known_before ?? 0;
}

/** Each question raises the count at once or leaves it. */
function stepPath(curve, { x, y }) {
  return `M${x(0)} ${y(start())}` + curve.map((count, place) => `H${x(place + 1).toFixed(1)}V${y(count).toFixed(1)}`).join("");
}

function smoothPath(byLot, { x, y }) {
  return `M${x(0)} ${y(start())}` + byLot.map((count, place) => `L${x(place + 1).toFixed(1)} ${y(count).toFixed(1)}`).join("");
}

function standing(curve, byLot, question = curve.length) {
  if (curve.length === 0) return "No question was answered yet.";
  const met = counted(curve[question - 1], "category", "categories");
  const lot = byLot[question - 1];
  const expected = lot === undefined ? "" : ` Asking by lot would be expected to have met ${lot.toFixed(1)} of them.`;
  return `After ${counted(question, "question")}: ${met} met.${expected}`;
}

/** Show the numbers at the question under the pointer. */
function point(clientX) {
  const { curve = [], by_lot: byLot } = store.state ?? {};
  const line = parts.figure.querySelector(".pointer");
  if (!line || curve.length === 0) return;
  const { left } = parts.figure.getBoundingClientRect();
  const share = clientX === null ? 1 : (clientX - left - MARGIN.left) / (parts.scales.x(parts.scales.questions) - MARGIN.left);
  const question = Math.min(curve.length, Math.max(1, Math.round(share * parts.scales.questions)));
  const x = clientX === null ? -9 : parts.scales.x(question);
  line.setAttribute("x1", x);
  line.setAttribute("x2", x);
  fill(parts.readout, standing(curve, byLot ?? [], clientX === null ? curve.length : question));
}

/** What is known and what is guessed stand apart, in the server's words. */
function adviceParts(advice) {
  if (!advice) return [];
  const part = (title, sentences, kind) => sentences?.length > 0 && element("section", { class: kind },
    element("h2", {}, title), ...[sentences].flat().map((sentence) => element("p", {}, sentence)));
  // The heading says that it is a guess; without it, the sentence would have to.
  const guessed = [advice.guessed ?? []].flat().map((sentence) => sentence.replace(/^Guess: ./, (start) => start.at(-1).toUpperCase()));
  return [part("Known", advice.known, "known"), part("Guessed", guessed, "guessed")];
}
