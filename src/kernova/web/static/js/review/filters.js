/** Which rows are listed, and in which order: fields above the grid. */

import { get } from "../api.js";
import { button, element, fill } from "../dom.js";
import { categories, store } from "../store.js";
import { worded } from "../words.js";

/** @typedef {import("../types.js").RowQuery} RowQuery */
/** @typedef {import("../types.js").ReviewColumn} ReviewColumn */
/** @typedef {NonNullable<RowQuery["status"]>} Status */
/** @typedef {NonNullable<RowQuery["order"]>} Order */

/** @type {[Status, string][]} */
const STATUSES = [
  ["suggested", "suggestions to accept"], ["all", "all rows"], ["doubtful", "labels that look wrong"], ["hand", "labelled by hand"],
  ["accepted", "accepted suggestions"], ["prior", "labelled before the first question"], ["unlabelled", "without a label"],
  ["unsure", "undecided"], ["skipped", "skipped"], ["flagged", "flagged"], ["noted", "with a note"],
];
/** @type {[Order, string, string][]} */
const ORDERS = [
  ["probability", "most probable first", "least probable first"], ["margin", "least clear first", "clearest first"],
  ["disagreement", "labels that look most wrong first", "surest labels first"], ["date", "newest first", "oldest first"],
  ["table", "as in the table", "as in the table, from the end"], ["random", "at random", "at random, from the end"],
];
/**
 * The order in which rows of a status are shown first.
 * @type {Partial<Object<Status, Order>>}
 */
const FIRST_ORDERS = { doubtful: "disagreement", accepted: "disagreement", hand: "date", unsure: "date", skipped: "date" };
const ALL = "all";
const NONE = "none";
const MOST_CONDITIONS = 5;

/**
 * Make the fields.
 * @param {(query: RowQuery) => void} onChange
 */
export function makeFilters(onChange) {
  const category = select("review-category", "Category", []);
  const status = select("review-status", worded("Rows"), STATUSES.map(([value, words]) => [value, worded(words)]));
  const order = select("review-order", "Order", ORDERS.flatMap(([value, words, reversed]) => [[value, words], [`-${value}`, reversed]]));
  const expert = select("review-expert", "Expert", []);
  const conditions = element("div", { class: "review-conditions", "data-testid": "review-conditions" });
  const add = button("Add a condition on a column", () => void addCondition(), { class: "small", "data-testid": "review-add-condition" });
  /** @type {ReviewColumn[]} */
  let columns = [];
  /** The lowest probability belongs to the slider. @type {number|undefined} */
  let lowest;

  const tell = () => onChange(query());
  status.field.addEventListener("change", () => (order.field.value = FIRST_ORDERS[/** @type {Status} */ (status.field.value)] ?? "probability"));
  for (const field of [category, status, order, expert]) {
    field.field.addEventListener("change", () => {
      lowest = undefined;
      tell();
    });
  }

  /** @returns {RowQuery} */
  function query() {
    const chosen = category.field.value;
    const [sorted, isReversed] = order.field.value.startsWith("-") ? [order.field.value.slice(1), true] : [order.field.value, false];
    return {
      status: /** @type {Status} */ (status.field.value),
      order: /** @type {Order} */ (sorted),
      reverse: isReversed,
      ...(chosen === NONE ? { without_category: true } : chosen === ALL ? {} : { category: chosen.slice(1) }),
      ...(expert.field.value ? { expert: expert.field.value.slice(1) } : {}),
      ...(lowest === undefined ? {} : { lowest }),
      columns: [...conditions.children].map((one) => conditionOf(one)).filter((one) => one !== null),
    };
  }

  /** @param {Element} node */
  function conditionOf(node) {
    const [column, low, high, contains] = ["column", "low", "high", "contains"].map((name) => {
      const field = node.querySelector(`[data-part="${name}"]`);
      return field instanceof HTMLInputElement || field instanceof HTMLSelectElement ? field.value.trim() : "";
    });
    /** @param {string} text */
    const number = (text) => (text === "" || !Number.isFinite(Number(text)) ? null : Number(text));
    if (contains) return { column, contains };
    if (number(low) === null && number(high) === null) return null;
    return { column, low: number(low), high: number(high) };
  }

  async function addCondition() {
    if (columns.length === 0) columns = (await get("/api/review/columns").catch(() => ({ columns: [] }))).columns;
    if (columns.length === 0) return;
    const values = element("span", { class: "line" });
    const names = element("select", { class: "small", "aria-label": "Column", "data-part": "column", "data-testid": "review-column" },
      ...columns.map(({ name }) => element("option", { value: name }, name)));
    const remove = button("×", () => {
      node.remove();
      add.hidden = false;
      add.focus();
      tell();
    }, { class: "small quiet icon-only", "aria-label": "Remove this condition" });
    const node = element("div", { class: "line" }, names, values, remove);
    const show = () => {
      const column = columns.find(({ name }) => name === names.value);
      if (column) fill(values, ...valueFields(column, tell));
    };
    names.addEventListener("change", () => {
      show();
      tell();
    });
    show();
    conditions.append(node);
    add.hidden = conditions.childElementCount >= MOST_CONDITIONS;
    names.focus();
  }

  /** Offer the categories and experts of now; a choice that is gone is dropped. */
  function refresh() {
    offer(category.field, [[ALL, "all categories"], ...categories().map(({ name, rows, accepted }) => [`=${name}`, accepted ? `${name} (${rows}, ${accepted} accepted)` : `${name} (${rows})`]), [NONE, "no category"]]);
    offer(expert.field, [["", "all experts"], ...(store.state?.experts ?? []).map(({ name }) => [`=${name}`, name])]);
  }

  refresh();
  const more = element("details", { class: "review-more", "aria-label": "More conditions" }, element("summary", { "data-testid": "review-more" }, "More conditions"),
    element("div", { class: "line" }, expert.node, add), conditions);
  const node = element("div", { class: "review-filters" }, category.node, status.node, order.node, more);
  return {
    node,
    query,
    refresh,
    /** @param {Partial<{category: string|null, status: Status}>} wish */
    choose({ category: name, status: wanted }) {
      refresh();
      if (name !== undefined) category.field.value = name === null ? ALL : `=${name}`;
      if (wanted !== undefined) {
        status.field.value = wanted;
        order.field.value = FIRST_ORDERS[wanted] ?? "probability";
      }
      lowest = undefined;
    },
    /** @param {number|undefined} value */
    setLowest(value) {
      lowest = value;
    },
  };
}

/**
 * Fields for a range of numbers, or for a part of a text.
 * @param {ReviewColumn} column
 * @param {() => void} tell
 */
function valueFields({ name, is_number: isNumber, low, high }, tell) {
  /** @type {(part: string, label: string, placeholder: string) => HTMLElement} */
  const field = (part, label, placeholder) => element("input", {
    type: "text", class: "small", "data-part": part, "aria-label": `${label} ${name}`, placeholder, inputmode: isNumber ? "decimal" : null,
    "data-testid": `review-${part}`, on: { change: tell },
  });
  if (!isNumber) return [field("contains", "Text in", "contains …")];
  return [field("low", "Lowest", low === null ? "" : String(low)), "to", field("high", "Highest", high === null ? "" : String(high))];
}

/**
 * @param {string} id
 * @param {string} label
 * @param {string[][]} options values and words
 */
function select(id, label, options) {
  const field = element("select", { id, "data-testid": id });
  offer(field, options);
  return { node: element("span", { class: "line review-field" }, element("label", { for: id }, label), field), field };
}

/**
 * @param {HTMLSelectElement} field
 * @param {string[][]} options
 */
function offer(field, options) {
  const chosen = field.value;
  const wanted = options.map(([value, words]) => `${value}\n${words}`).join("\n");
  if (field.dataset.options === wanted) return;
  field.dataset.options = wanted;
  fill(field, ...options.map(([value, words]) => element("option", { value }, words)));
  if (options.some(([value]) => value === chosen)) field.value = chosen;
}
