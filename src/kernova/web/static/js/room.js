/** The room for a picture or sound: what the question's other parts leave of the window, in the CSS length --room. */

import { byId } from "./dom.js";

const LEAST_PX = 110;
/** What stays free below, so that one sees that there is more. */
const GAP_PX = 20;

/** Measure the room whenever the window, the head or the answers change their size. */
export function startRoom() {
  const observer = new ResizeObserver(() => requestAnimationFrame(measure));
  const view = byId("view-question");
  observer.observe(view);
  new MutationObserver(() => {
    observer.disconnect();
    for (const part of [view, ...view.querySelectorAll(".question-head, .answers")]) observer.observe(part);
    measure();
  }).observe(view, { childList: true });
  addEventListener("resize", measure);
}

function measure() {
  const view = byId("view-question");
  const show = view.querySelector(".show");
  if (!(show instanceof HTMLElement) || !show.checkVisibility()) return;
  const top = show.getBoundingClientRect().top + scrollY;
  const room = Math.floor(innerHeight - top - (below(view, show) || GAP_PX));
  view.style.setProperty("--room", `${Math.max(LEAST_PX, room)}px`);
}

/**
 * The height of what must be seen below the picture: in one column, the answers and the tabs.
 * @param {HTMLElement} view
 * @param {HTMLElement} show
 */
function below(view, show) {
  const answers = view.querySelector(".answers");
  if (!answers || getComputedStyle(answers).position !== "sticky") return 0;
  const gap = Number.parseFloat(getComputedStyle(show.closest(".asked") ?? show).rowGap) || 0;
  return gap + answers.getBoundingClientRect().height + (innerHeight - byId("tabs").getBoundingClientRect().top);
}
