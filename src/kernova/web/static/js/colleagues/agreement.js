/** Measured agreement: of all experts, of every two, by category, and which categories are confused. */

import { get } from "../api.js";
import { button, element, fill, keepingFocus } from "../dom.js";
import { labelTag } from "../glyph.js";
import { categoryNamed } from "../store.js";
import { counted, whole, worded } from "../words.js";
import { openSettle } from "./settle.js";

/** @typedef {import("../types.js").AgreementReply} Agreement */
/** @typedef {import("../types.js").Measure} Measure */

/** Build the section; `show` brings it up to date. */
export function agreementSection() {
  const body = element("div", { "data-testid": "agreement" });
  const node = element("section", { "aria-labelledby": "agreement-heading" }, element("h2", { id: "agreement-heading" }, "Agreement"), body);
  /** @type {[string|null, string|null]|null} */
  let pair = null;

  async function show() {
    const query = pair ? { first: pair[0] ?? "", second: pair[1] ?? "" } : {};
    const told = await get("/api/agreement", query).catch(() => null);
    if (told) keepingFocus(body, () => fill(body, ...parts(told)));
  }
  /** @param {Agreement} told */
  function parts(told) {
    const seen = told.seen_rows > 0 && element("p", { class: "hint" }, `${counted(told.seen_rows, "further row")} ${told.seen_rows === 1 ? "has" : "have"} several answers, of which some were given after seeing another; ${whole(told.seen_same)} of them agree. They are not measured.`);
    if (told.rows === 0) return [element("p", { class: "hint" }, worded("No row has answers of several experts that were given without seeing each other yet. Plan an overlap to measure agreement.")), seen];
    return [
      element("p", {}, `${counted(told.rows, "row")} with answers of several experts: ${percent(told.raw ?? 0)} agree.`),
      element("dl", { class: "measures" },
        ...measure("Fleiss’ kappa", told.fleiss), ...measure("Krippendorff’s alpha", told.alpha)),
      pairsTable(told), categoriesTable(told), confusedList(told), confusionTable(told), seen,
      element("p", { class: "hint" }, told.method),
    ];
  }
  /** @param {Agreement} told */
  function confusionTable({ pairs, table }) {
    if (table.names.length === 0) return null;
    const chooser = element("select", { class: "small", id: "confusion-pair", "data-testid": "confusion-pair", on: { change: () => {
      const chosen = pairs[Number(chooser.value)];
      pair = chosen ? [chosen.first, chosen.second] : null;
      void show();
    } } }, element("option", { value: "" }, "all experts"), ...pairs.map(({ first, second }, index) => element("option", { value: index }, `${nameOf(first)} and ${nameOf(second)}`)));
    const chosen = table.is_pooled ? -1 : pairs.findIndex(({ first, second }) => first === table.first && second === table.second);
    chooser.value = chosen < 0 ? "" : String(chosen);
    const caption = table.is_pooled ? "How often each pair of answers occurred; both directions count" : `Lines: ${nameOf(table.first)}. Columns: ${nameOf(table.second)}`;
    const head = element("tr", {}, element("td", {}), ...table.names.map((name) => element("th", { scope: "col", class: "number" }, name)));
    const lines = table.names.map((name, line) => element("tr", {}, element("th", { scope: "row" }, name),
      ...table.counts[line].map((count, column) => element("td", { class: line === column ? "number same" : "number" }, count ? whole(count) : "·"))));
    return element("div", {}, element("h3", {}, "Confusion of categories"),
      element("div", { class: "line" }, element("label", { for: "confusion-pair" }, "Answers of"), chooser),
      scrolled("Confusion of categories", element("table", { class: "confusion", "data-testid": "confusion" }, element("caption", {}, caption), element("thead", {}, head), element("tbody", {}, ...lines))));
  }
  return { node, show };
}

/** @param {string|null} name */
function nameOf(name) {
  return name || "unnamed";
}

/** @param {number} fraction */
function percent(fraction) {
  return `${(100 * fraction).toFixed(0)} %`;
}

/** @param {Measure|null} found */
function shown(found) {
  if (found === null) return "not defined: one category only";
  return `${found.value.toFixed(2)} (${found.low.toFixed(2)} to ${found.high.toFixed(2)})`;
}

/**
 * @param {string} name
 * @param {Measure|null} found
 */
function measure(name, found) {
  return [element("dt", {}, name), element("dd", {}, shown(found))];
}

/**
 * A table that may be wider than the window: its own region scrolls, by keyboard, too.
 * @param {string} name
 * @param {HTMLElement} table
 */
function scrolled(name, table) {
  return element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": name }, table);
}

/** @param {Agreement} told */
function pairsTable({ pairs }) {
  const lines = pairs.map((one) => element("tr", {}, element("th", { scope: "row" }, `${nameOf(one.first)} and ${nameOf(one.second)}`),
    element("td", { class: "number" }, whole(one.rows)), element("td", { class: "number" }, percent(one.raw.value)), element("td", {}, shown(one.kappa))));
  return scrolled("Agreement of every two experts", element("table", { "data-testid": "pairs" }, element("caption", {}, "Agreement of every two experts"),
    element("thead", {}, element("tr", {}, ...["Experts", "Rows", "Agree", "Cohen’s kappa (95 % interval)"].map((name) => element("th", { scope: "col" }, worded(name))))), element("tbody", {}, ...lines)));
}

/** @param {Agreement} told */
function categoriesTable({ categories }) {
  const lines = categories.map((one) => element("tr", {}, element("th", { scope: "row" }, labelTag(categoryNamed(one.name), one.name)),
    element("td", { class: "number" }, whole(one.opinions)), element("td", { class: "number" }, percent(one.agreement))));
  return scrolled("Agreement by category", element("table", { "data-testid": "by-category" }, element("caption", {}, "Agreement by category: how often another expert gives it, too"),
    element("thead", {}, element("tr", {}, ...["Category", "Answers", "Agree"].map((name) => element("th", { scope: "col" }, worded(name))))), element("tbody", {}, ...lines)));
}

/** @param {Agreement} told */
function confusedList({ confused }) {
  if (confused.length === 0) return null;
  return element("div", {}, element("h3", {}, "Most often confused"), element("ul", { class: "confused-list" }, ...confused.slice(0, 5).map(({ first, second, rows }) => element("li", {},
    labelTag(categoryNamed(first), first), " and ", labelTag(categoryNamed(second), second), ` on ${counted(rows, "row")} `,
    button("Settle these", () => void openSettle([first, second]), { class: "small", "aria-label": `Settle rows between ${first} and ${second}` })))));
}
