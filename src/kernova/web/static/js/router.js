/** Which view is shown: the address says it, so that going back works and each view can be linked to. */

import { byId, drawn, element, fill } from "./dom.js";

/** @typedef {import("./page_types.js").View} View */

/** @type {View[]} */
let views = [];
/** @type {Map<string, () => void>} */
const shownListeners = new Map();

/**
 * Put a tab and an empty section for each view into the page, and follow the address and the width of the window.
 * @param {View[]} table
 */
export function startRouter(table) {
  views = table;
  fill(byId("tabs"), element("ul", {}, views.map((view) => element("li", {}, tab(view)))));
  fill(byId("desk"), views.map(({ name }) => element("section", { id: `view-${name}`, class: "view", "aria-labelledby": `${name}-heading`, tabindex: "-1", hidden: true })));
  addEventListener("hashchange", () => showView({ moveFocus: true }));
  matchMedia("(min-width: 68rem)").addEventListener("change", refreshViews);
}

/** @param {View} view */
function tab({ name, title, icon }) {
  const drawing = drawn("svg", { class: "icon", viewBox: "0 0 24 24", "aria-hidden": "true" }, drawn("path", { d: icon }));
  return element("a", { id: `tab-${name}`, href: `#/${name}`, "data-testid": `tab-${name}` }, drawing, element("span", {}, title));
}

/** The name of the view in the address; the first view where it names none. */
export function currentView() {
  const name = location.hash.replace(/^#\//, "");
  return (views.find((view) => view.name === name) ?? views[0]).name;
}

/**
 * Go to a view.
 * @param {string} view
 */
export function goTo(view) {
  if (currentView() === view) showView();
  else location.hash = `#/${view}`;
}

/**
 * Whether a view is visible now: map and curve are beside the question on wide screens.
 * @param {string} view
 */
export function isSeen(view) {
  return byId(`view-${view}`).checkVisibility();
}

/**
 * Call when a view becomes visible, and when it is to be brought up to date.
 * @param {string} view
 * @param {() => void} listener
 */
export function onShown(view, listener) {
  shownListeners.set(view, listener);
}

/** Bring every visible view up to date. */
export function refreshViews() {
  for (const [view, listener] of shownListeners) if (isSeen(view)) listener();
  // What a listener builds is there after this turn.
  setTimeout(levelHeadings);
}

/** Beside the question, map and curve are parts of it: there is one main heading. */
function levelHeadings() {
  for (const heading of document.querySelectorAll("#desk h1")) heading.ariaLevel = heading.closest(`#view-${currentView()}`) ? null : "2";
}

/** Show the view of the address. */
export function showView({ moveFocus = false } = {}) {
  const current = currentView();
  document.body.dataset.view = current;
  for (const { name, title } of views) {
    const isCurrent = name === current;
    byId(`view-${name}`).classList.toggle("current", isCurrent);
    if (isCurrent) document.title = `${title} · kernova workbench`;
    if (isCurrent) byId(`tab-${name}`).setAttribute("aria-current", "page");
    else byId(`tab-${name}`).removeAttribute("aria-current");
  }
  if (moveFocus) {
    scrollTo(0, 0);
    byId(`view-${current}`).focus({ preventScroll: true });
  }
  refreshViews();
  levelHeadings();
}
