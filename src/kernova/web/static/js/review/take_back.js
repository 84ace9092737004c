/** Taking back accepted suggestions by a rule: first how many rows it concerns, then all of them in one step. */

import { reopenRows } from "../actions.js";
import { messageOf, post } from "../api.js";
import { openDialog } from "../dialogs.js";
import { button, element, fill } from "../dom.js";
import { categories, store } from "../store.js";
import { counted } from "../words.js";

/** @typedef {import("../types.js").RowQuery} RowQuery */

/** Ask for a rule. */
export function openTakeBack() {
  const category = select("Category", "take-category", [["", "any"], ...categories().filter(({ accepted }) => accepted > 0).map(({ name }) => [`=${name}`, name])]);
  const expert = select("Accepted by", "take-expert", [["", "anyone"], ...(store.state?.experts ?? []).map(({ name }) => [`=${name}`, name])]);
  const below = element("input", { type: "text", inputmode: "decimal", id: "take-below", placeholder: "any", "data-testid": "take-below" });
  const before = element("input", { type: "datetime-local", id: "take-before", "data-testid": "take-before" });
  const words = element("p", { role: "status", "data-testid": "take-words" }, "…");
  const yes = button("Take back", () => void takeBack(), { class: "primary", disabled: true, "data-testid": "take-yes" });
  let count = 0;
  let turn = 0;

  /** @returns {RowQuery|null} null where what was typed is no probability */
  function rule() {
    const lowest = below.value.trim() === "" ? null : Number(below.value.trim().replace(",", "."));
    if (lowest !== null && !(lowest >= 0 && lowest <= 1)) return null;
    return {
      status: "accepted",
      ...(category.field.value ? { category: category.field.value.slice(1) } : {}),
      ...(expert.field.value ? { expert: expert.field.value.slice(1) } : {}),
      ...(lowest === null ? {} : { below: lowest }),
      ...(before.value ? { before: new Date(before.value).toISOString() } : {}),
    };
  }

  async function look() {
    turn += 1;
    const asked = turn;
    const query = rule();
    yes.disabled = true;
    if (query === null) return void fill(words, "A probability is a number from 0 to 1.");
    try {
      const { total } = await post("/api/review/numbers", { query, limit: 1 });
      if (asked !== turn) return;
      count = total;
      yes.disabled = count === 0;
      fill(words, count === 0 ? "No accepted row matches." : `${counted(count, "accepted row")} ${count === 1 ? "matches" : "match"}. Taken back, ${count === 1 ? "it has" : "they have"} no label and may be asked about.`);
    } catch (error) {
      if (asked === turn) fill(words, messageOf(error));
    }
  }

  async function takeBack() {
    const query = rule();
    if (query === null || count === 0) return;
    dialog.close();
    await reopenRows({ query, count, learnt: store.state?.learn.generation ?? null }, count);
  }

  for (const field of [category.field, expert.field, before]) field.addEventListener("change", () => void look());
  below.addEventListener("input", () => void look());
  const dialog = openDialog("Take back accepted suggestions", [
    element("p", { class: "hint" }, "Labels given by hand stay. A single undo reverses this."),
    element("div", { class: "take-rule" }, category.label, category.field, element("label", { for: "take-below" }, "Probability below"), below,
      element("label", { for: "take-before" }, "Accepted before"), before, expert.label, expert.field),
    words, element("div", { class: "line ending" }, yes, button("Cancel", () => dialog.close())),
  ], { testid: "take-back" });
  category.field.focus();
  void look();
}

/**
 * @param {string} label
 * @param {string} id
 * @param {string[][]} options
 */
function select(label, id, options) {
  const field = element("select", { id, "data-testid": id }, ...options.map(([value, words]) => element("option", { value }, words)));
  return { label: element("label", { for: id }, label), field };
}
