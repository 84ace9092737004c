/** What is known of a row besides its features: columns as written in the file, and its page elsewhere. */

import { element } from "./dom.js";

/** @typedef {import("./types.js").Card} Card */

/**
 * Show the columns of a row that are no features, and its link; null where there are none.
 * @param {Card} card
 */
export function contextList({ id, context, link }) {
  if (context.length === 0 && !link) return null;
  const lines = context.map(({ name, text, address }) => element("div", {},
    element("dt", { title: name }, name),
    element("dd", {}, address ? outsideLink(address, text) : text || element("span", { class: "hint" }, "missing"))));
  return element("section", { class: "context", "aria-label": `Context of ${id}`, "data-testid": "context" },
    element("h2", {}, "Context"),
    link && element("p", {}, rowLink(link)),
    lines.length > 0 && element("dl", {}, ...lines));
}

/**
 * The link to a row's page elsewhere.
 * @param {string} address
 */
export function rowLink(address) {
  return outsideLink(address, `Open at ${hostOf(address)}`, "row-link");
}

/**
 * A plain link to another site; the page itself requests nothing from it.
 * @param {string} address
 * @param {string} words
 * @param {string} [testid]
 */
export function outsideLink(address, words, testid) {
  // Whatever a table holds, nothing but an address of the web becomes a link.
  if (!/^https?:/i.test(address)) return element("span", {}, words);
  return element("a", { href: address, target: "_blank", rel: "noopener noreferrer", "data-testid": testid }, `${words} ↗`);
}

/**
 * Whether a text is nothing but an address of the web.
 * @param {string} text
 */
export function isAddress(text) {
  return /^https?:[/]{2}\S+$/i.test(text);
}

/** @param {string} address */
function hostOf(address) {
  try {
    return new URL(address).host;
  } catch {
    return "another site";
  }
}
