/** The suggestions from a probability on: how many they are, how many of such were right, and accepting them all. */

import { post } from "../api.js";
import { button, element, fill } from "../dom.js";
import { precisionSentence } from "../suggestions.js";
import { counted } from "../words.js";

/** @typedef {import("../types.js").RowQuery} RowQuery */
/** @typedef {import("../types.js").PrecisionReply} PrecisionReply */

/**
 * Make the slider.
 * @param {{onChoose: (lowest: number) => void, onAccept: (point: PrecisionReply, isPromised: boolean, learnt: number|null) => void}} acts
 */
export function makeThreshold({ onChoose, onAccept }) {
  const slider = element("input", { type: "range", id: "review-threshold", min: 0, max: 100, step: 1, "aria-describedby": "review-precision", "data-testid": "review-threshold" });
  const shown = element("output", { for: "review-threshold" });
  const words = element("p", { id: "review-precision", role: "status", "data-testid": "review-precision" });
  const accept = button("Accept", () => {
    const point = curve?.points[Number(slider.value)];
    if (point && point.rows > 0) onAccept(point, isPromised(point), learnt);
  }, { "data-testid": "review-accept-all" });
  const node = element("div", { class: "threshold review-threshold", hidden: true },
    element("div", { class: "line" }, element("label", { for: "review-threshold" }, "Probability of at least"), slider, shown, accept), words);
  /** @type {import("../types.js").PrecisionCurveReply|null} */
  let curve = null;
  /** @type {number|null} */
  let learnt = null;
  let turn = 0;

  /** @param {PrecisionReply} point */
  const isPromised = (point) => curve !== null && point.promised >= curve.promised;
  const tell = () => {
    const point = curve?.points[Number(slider.value)];
    if (!point) return;
    fill(shown, point.threshold.toFixed(2));
    slider.setAttribute("aria-valuetext", `${point.threshold.toFixed(2)}, ${counted(point.rows, "row")}`);
    fill(words, precisionSentence(point));
    fill(accept, point.rows === 1 ? "Accept this one" : `Accept these ${counted(point.rows, "row")}`);
    accept.disabled = point.rows === 0;
    accept.classList.toggle("primary", isPromised(point));
  };
  slider.addEventListener("input", tell);
  slider.addEventListener("change", () => onChoose(Number(slider.value) / 100));

  return {
    node,
    /**
     * Show the curve of a query's suggestions; hidden where there is none.
     * @param {RowQuery} query
     * @param {number|null} run whose suggestions are listed
     * @returns {Promise<number|null>} the lowest probability from which on enough is promised, rounded up; null if there is none
     */
    async show(query, run) {
      turn += 1;
      const asked = turn;
      const isWanted = query.status === "suggested" && run !== null;
      const found = isWanted ? await post("/api/review/precision", { query, learnt: run }).catch(() => null) : null;
      if (asked !== turn) return null;
      curve = found;
      learnt = run;
      node.hidden = curve === null;
      const recommended = curve === null || curve.recommended === null ? null : Math.min(100, Math.ceil(100 * curve.recommended));
      slider.value = String(Math.round(100 * (query.lowest ?? 0)));
      tell();
      return recommended === null ? null : recommended / 100;
    },
    /** Move the slider, without a request. @param {number} lowest */
    set(lowest) {
      slider.value = String(Math.round(100 * lowest));
      tell();
    },
  };
}
