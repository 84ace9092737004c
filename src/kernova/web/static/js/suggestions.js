/** Suggested categories from a probability on: how many rows, how precise, and which. */

import { get } from "./api.js";
import { element, fill } from "./dom.js";
import { counted, whole } from "./words.js";

/** @typedef {import("./types.js").PrecisionReply} PrecisionReply */
/** @typedef {import("./types.js").PrecisionCurveReply} PrecisionCurveReply */

/** Where no threshold promises enough: the middle, from which rows can be seen in both directions. */
const WITHOUT_PROMISE = 0.5;
/** @type {{category: string|null, threshold: number|null}} */
const chosen = { category: null, threshold: null };

/** Forget the threshold, which belongs to what was learnt before. */
export function forgetThreshold() {
  chosen.threshold = null;
}

/**
 * Let the user choose a probability and a category.
 * @param {string[]} names the categories that were learnt
 * @param {(threshold: number, category: string|null) => void} onChosen
 * @returns {Promise<HTMLElement>}
 */
export async function suggestionControls(names, onChosen) {
  if (chosen.category !== null && !names.includes(chosen.category)) chosen.category = null;
  const slider = element("input", { type: "range", id: "learn-threshold", min: 0, max: 100, step: 1, "aria-describedby": "learn-precision", "data-testid": "threshold" });
  const shown = element("output", { for: "learn-threshold" });
  const words = element("p", { id: "learn-precision", role: "status", "data-testid": "precision" });
  const category = element("select", { id: "learn-category", "data-testid": "suggested-category" },
    element("option", { value: "" }, "all categories"), ...names.map((name) => element("option", { value: name, selected: name === chosen.category }, name)));
  /** @type {PrecisionCurveReply|null} */
  let curve = null;
  const say = () => {
    const threshold = Number(slider.value) / 100;
    const point = curve?.points[Number(slider.value)];
    fill(shown, threshold.toFixed(2));
    slider.setAttribute("aria-valuetext", point ? `${threshold.toFixed(2)}, ${counted(point.rows, "row")}` : threshold.toFixed(2));
    if (point) fill(words, precisionSentence(point));
  };
  const tell = () => {
    chosen.threshold = Number(slider.value) / 100;
    onChosen(chosen.threshold, chosen.category);
  };
  const read = async () => {
    curve = await get("/api/learn/precision", chosen.category === null ? {} : { category: chosen.category });
    const start = chosen.threshold ?? curve.recommended ?? WITHOUT_PROMISE;
    // Rounded up, so that the promise still holds.
    slider.value = String(Math.min(100, Math.ceil(100 * start)));
    say();
    tell();
  };
  slider.addEventListener("input", say);
  slider.addEventListener("change", tell);
  category.addEventListener("change", () => {
    chosen.category = category.value || null;
    chosen.threshold = null;
    void read();
  });
  await read();
  return element("div", { class: "threshold" },
    element("div", { class: "line" }, element("label", { for: "learn-category" }, "Suggestions of"), category),
    element("div", { class: "line" }, element("label", { for: "learn-threshold" }, "with a probability of at least"), slider, shown), words);
}

/**
 * How many rows are suggested from a probability on, and how precise such suggestions are.
 * @param {PrecisionReply} point
 */
export function precisionSentence({ rows, threshold, precision, low, high, answers, promised }) {
  const start = `${counted(rows, "row")} at ≥ ${threshold.toFixed(2)}`;
  const n = Math.round(answers);
  if (precision === null || n === 0) return `${start}. No answer is above this to test it with.`;
  const tested = `precision ${precision.toFixed(2)} (${low.toFixed(2)}–${high.toFixed(2)}) by cross-validation of ${whole(n)} ${n === 1 ? "answer" : "answers"}`;
  return `${start}: ${tested}. Expect ${promised.toFixed(2)} or more.`;
}
