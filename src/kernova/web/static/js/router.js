/** Which view is shown: the address says it, so that going back works and each view can be linked to. */

import { byId } from "./dom.js";

export const VIEWS = ["question", "categories", "history", "map", "curve", "learn", "experts"];
const TITLES = { question: "Question", categories: "Categories", history: "History", map: "Map", curve: "Curve", learn: "Learn", experts: "Experts" };
const shownListeners = new Map();

/** The view of the address. */
export function currentView() {
  const view = location.hash.replace(/^#\//, "");
  return VIEWS.includes(view) ? view : "question";
}

/** Go to a view. */
export function goTo(view) {
  if (currentView() === view) showView();
  else location.hash = `#/${view}`;
}

/** Whether a view can be seen now: map and curve stand beside the question on wide screens. */
export function isSeen(view) {
  return byId(`view-${view}`).checkVisibility();
}

/** Call when a view comes into sight, and when it is asked to look again. */
export function onShown(view, listener) {
  shownListeners.set(view, listener);
}

/** Let every view in sight catch up. */
export function refreshViews() {
  for (const [view, listener] of shownListeners) if (isSeen(view)) listener();
}

/** Show the view of the address. */
export function showView({ moveFocus = false } = {}) {
  const view = currentView();
  document.body.dataset.view = view;
  document.title = `${TITLES[view]} · kernova workbench`;
  for (const link of byId("tabs").querySelectorAll("a")) {
    if (link.getAttribute("href") === `#/${view}`) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  if (moveFocus) {
    scrollTo(0, 0);
    byId(`view-${view}`).focus({ preventScroll: true });
  }
  refreshViews();
  // Beside the question, map and curve are parts of it: one heading leads.
  for (const heading of document.querySelectorAll(".desk h1")) heading.ariaLevel = heading.closest(`#view-${view}`) ? null : "2";
}

/** Follow the address, and the width of the window. */
export function startRouter() {
  addEventListener("hashchange", () => showView({ moveFocus: true }));
  matchMedia("(min-width: 68rem)").addEventListener("change", refreshViews);
}
