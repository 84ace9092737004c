/** A row's values against all rows: where each lies in its distribution, in the same order for every row. */

import { button, drawn, element, fill } from "./dom.js";
import { keep, kept } from "./kept.js";
import { rowNoun, worded } from "./words.js";

const WIDTH = 200;
const HEIGHT = 34;

/** @typedef {import("./types.js").Feature} Feature */

/**
 * Draw the values of a card: in the order of the table, so that rows can be compared, or the most unusual first.
 * @param {import("./types.js").Card} card
 */
export function featureList(card) {
  const list = element("ul", { class: "features", "data-testid": "features" });
  const turn = () => {
    keep("values", kept("values") === "unusual" ? null : "unusual");
    show();
  };
  const order = button("Most unusual first", turn, { class: "small quiet", "data-testid": "unusual-first", "aria-pressed": "false" });
  function show() {
    const isUnusual = kept("values") === "unusual";
    order.setAttribute("aria-pressed", String(isUnusual));
    fill(list, (isUnusual ? card.features : inTableOrder(card)).map(featureItem));
  }
  show();
  return element("div", { class: "values-list" }, card.features.length > 1 && order, list);
}

/**
 * The columns that every card has, in the order of the table; of a wide table, then what else is unusual in this row.
 * @param {import("./types.js").Card} card
 */
function inTableOrder({ features, aligned }) {
  const names = new Set(aligned.map(({ name }) => name));
  return [...aligned, ...features.filter((one) => !names.has(one.name) && oddness(one) === "odd")];
}

/**
 * The names of a row's most unusual values, in the order of the table: strips of other rows show the same ones.
 * @param {import("./types.js").Card} card
 * @param {number} most
 */
export function unusualNames({ features, aligned }, most = 6) {
  const chosen = features.slice(0, most).map(({ name }) => name);
  const order = aligned.map(({ name }) => name);
  const place = (/** @type {string} */ name) => (order.includes(name) ? order.indexOf(name) : order.length);
  return chosen.sort((one, other) => place(one) - place(other));
}

/**
 * "higher than 98 % of rows"; for a category, how many rows have it.
 * @param {Feature} feature
 */
export function percentileWords({ kind, place: text }) {
  const percentile = Number(text);
  if (kind !== "number" || text === "" || Number.isNaN(percentile)) return text;
  if (percentile > 55) return `higher than ${Number(percentile.toFixed(2))} % of ${rowNoun()}`;
  if (percentile < 45) return `lower than ${Number((100 - percentile).toFixed(2))} % of ${rowNoun()}`;
  return "close to the median";
}

/**
 * Draw several values of a row as dots on thin lines: a row at a glance, beside others of its cluster. The columns are
 * those named, or the first ones of the table: the same for all rows.
 * @param {import("./types.js").Card} card
 * @param {string[]} names
 */
export function featureStrip({ features, aligned }, names) {
  const byName = new Map([...features, ...aligned].map((feature) => [feature.name, feature]));
  const shown = names.map((name) => byName.get(name)).filter((feature) => feature !== undefined);
  const lines = (shown.length > 0 ? shown : aligned).slice(0, 6);
  const step = 9;
  const strip = drawn("svg", { class: "strip", viewBox: `0 0 100 ${lines.length * step + 2}`, "aria-hidden": "true" });
  lines.forEach((feature, line) => {
    const y = (line + 0.5) * step + 1;
    strip.append(drawn("line", { x1: 4, x2: 96, y1: y, y2: y }));
    const at = feature.kind === "number" ? feature.position : feature.own_share;
    const dot = at === null ? null : drawn("circle", { cx: 4 + 92 * at, cy: y, r: 3.2, class: oddness(feature) });
    if (dot) strip.append(dot);
  });
  const words = lines.map((feature) => `${feature.name}: ${feature.value} (${percentileWords(feature)})`).join("\n");
  return { strip, words };
}

/** @param {Feature} feature */
function featureItem(feature) {
  const head = element("div", { class: "feature-head" },
    element("span", { class: "feature-name", title: feature.name }, feature.name),
    element("b", {}, feature.value));
  const words = element("p", { class: "feature-words" }, element("span", { class: oddness(feature) }, percentileWords(feature)),
    ` · typically ${feature.usual}`, feature.axis_words ? ` · ${worded(feature.axis_words)}` : "");
  return element("li", { class: oddness(feature) }, head, feature.kind === "number" ? histogram(feature) : fractions(feature), words);
}

/**
 * A value is marked as unusual where fewer than 1 in 20 rows are as extreme.
 * @param {{surprise: number}} feature
 */
export function oddness({ surprise }) {
  return surprise > Math.log2(20) ? "odd" : "plain";
}

/** @param {Feature} feature */
export function histogram({ histogram: counts, position, usual_position: usual, lowest_words: low, highest_words: high, surprise }) {
  const most = Math.max(1, ...counts);
  const wide = WIDTH / Math.max(1, counts.length);
  // Square roots, so that a bin of one row is visible beside one of thousands.
  const bars = counts.map((count, bin) => {
    const tall = count === 0 ? 0 : Math.max(1.5, Math.sqrt(count / most) * (HEIGHT - 6));
    return drawn("rect", { x: bin * wide + 0.4, y: HEIGHT - tall, width: Math.max(0.6, wide - 0.8), height: tall });
  });
  const marks = [
    usual !== null && drawn("line", { class: "usual", x1: usual * WIDTH, x2: usual * WIDTH, y1: 6, y2: HEIGHT }),
    position !== null && needle(position * WIDTH, oddness({ surprise })),
  ];
  const figure = drawn("svg", { class: "histogram", viewBox: `-5 0 ${WIDTH + 10} ${HEIGHT}`, preserveAspectRatio: "none", "aria-hidden": "true" }, ...bars, ...marks);
  return element("div", {}, figure, element("div", { class: "ends", "aria-hidden": "true" }, element("span", {}, low), element("span", {}, high)));
}

/**
 * @param {number} x
 * @param {string} kind
 */
function needle(x, kind) {
  return drawn("g", { class: `needle ${kind}` },
    drawn("line", { x1: x, x2: x, y1: 4, y2: HEIGHT }), drawn("path", { d: `M${x - 4.5} 0h9l-4.500 6z` }));
}

/** @param {Feature} feature */
function fractions({ shares: parts, value, n_categories: number }) {
  const lines = parts.map(({ name, share: fraction }) => {
    const bar = element("i", {});
    bar.style.width = `${Math.max(0.5, fraction * 100)}%`;
    return element("div", { class: name === value ? "fraction own" : "fraction" },
      element("span", { title: name }, name), element("span", { class: "fraction-bar" }, bar), element("small", {}, percentWords(fraction)));
  });
  const left = number - parts.length;
  return element("div", { class: "fractions", "aria-hidden": "true" }, ...lines, left > 0 && element("small", {}, `and ${left} more`));
}

/** @param {number} fraction */
function percentWords(fraction) {
  const percent = fraction * 100;
  return `${percent >= 10 ? percent.toFixed(0) : percent.toPrecision(2)} %`;
}
