/** Planned overlap: which fraction of the rows several experts are asked about, and how far that is. */

import { askNext, planOverlap } from "../actions.js";
import { get } from "../api.js";
import { button, element, say } from "../dom.js";
import { goTo } from "../router.js";
import { store } from "../store.js";
import { counted, whole, worded } from "../words.js";

/** Build the section; `show` brings it up to date. */
export function overlapSection() {
  const percent = element("input", { type: "number", id: "overlap-percent", "data-testid": "overlap-percent", min: 0, max: 100, step: 0.1, value: 10, required: true });
  const experts = element("select", { id: "overlap-experts", "data-testid": "overlap-experts" }, ...[2, 3, 4, 5].map((n) => element("option", { value: n }, String(n))));
  const words = element("p", { "data-testid": "overlap-words" });
  const now = button("Ask me about these now", () => void ask(), { "data-testid": "overlap-now", hidden: true });
  const plan = () => planOverlap(Number(percent.value) / 100, Number(experts.value));
  const form = element("form", { class: "line", on: { submit: (event) => (event.preventDefault(), void plan()) } },
    element("label", { for: "overlap-percent" }, "Ask"), percent, element("label", { for: "overlap-experts" }, worded("% of rows to")), experts, "experts",
    element("button", { type: "submit", "data-testid": "overlap-plan" }, "Plan"));
  const node = element("section", { "aria-labelledby": "overlap-heading" }, element("h2", { id: "overlap-heading" }, "Planned overlap"),
    element("p", { class: "hint" }, worded("To measure agreement, a random sample of the rows that are asked is asked again, of another expert. The first answer, suggestions and notes stay hidden until the second is given.")),
    form, words, now);
  let shownFor = "";

  async function ask() {
    await askNext({ source: "overlap" });
    goTo("question");
  }
  async function show() {
    const told = await get("/api/overlap", { expert: store.expert || undefined }).catch(() => null);
    if (!told) return;
    const { fraction, rows, complete, waiting } = told;
    const signature = `${fraction} ${told.experts}`;
    if (fraction > 0 && signature !== shownFor) {
      percent.value = String(Number((100 * fraction).toFixed(1)));
      experts.value = String(told.experts);
    }
    shownFor = signature;
    say(words, fraction === 0 ? "No overlap is planned."
      : `${Number((100 * fraction).toFixed(1))} % of rows are asked to ${told.experts} experts. ${counted(rows, "such row")} asked so far: ${whole(complete)} with enough answers, ${whole(waiting)} for you to compare.`);
    now.hidden = waiting === 0;
  }
  return { node, show };
}
