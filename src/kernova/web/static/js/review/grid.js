/**
 * A grid of cards of any number, of which only those on the screen are in the page. The page itself scrolls; the grid is
 * as high as all cards together.
 */

import { element } from "../dom.js";

const GAP_PX = 8;
/** Lines above and below the screen that are drawn, too. */
const SPARE_LINES = 2;
/** Browsers draw no higher elements: of more cards, a step of the scroll bar passes several lines. */
const HIGHEST_PX = 12_000_000;
/** A press that moves less is a click. */
const NEAR_PX = 6;
const EDGE_PX = 48;
/** @type {Object<string, (place: number, columns: number, screen: number, last: number) => number>} */
const MOVES = {
  ArrowLeft: (place) => place - 1,
  ArrowRight: (place) => place + 1,
  ArrowUp: (place, columns) => place - columns,
  ArrowDown: (place, columns) => place + columns,
  PageUp: (place, columns, screen) => place - columns * screen,
  PageDown: (place, columns, screen) => place + columns * screen,
  Home: () => 0,
  End: (_place, _columns, _screen, last) => last,
};

/**
 * @typedef {object} GridParts
 * @property {() => number} total
 * @property {(place: number) => HTMLElement} card a new card, an option
 * @property {(from: number, to: number) => void} onShown which places are on the screen
 * @property {(place: number) => void} onPress a click
 * @property {(place: number) => void} onOpen
 * @property {(from: number, to: number) => void} onRange a range by Shift and the arrow keys
 * @property {(ranges: [number, number][], phase: "start"|"move"|"end", isAdded: boolean) => void} onBand
 * @property {() => {width: number, shape: number, words: number}} sizes least width of a card, height of its picture by its width, height of its words
 */

/**
 * Make the grid.
 * @param {GridParts} parts
 */
export function makeGrid(parts) {
  const band = element("div", { class: "review-band", hidden: true });
  const node = element("div", { class: "review-grid", role: "listbox", "aria-multiselectable": "true", "aria-label": "Rows", tabindex: "0", "data-testid": "review-grid" });
  const frame = element("div", { class: "review-frame" }, node, band);
  /** @type {Map<number, HTMLElement>} */
  const cards = new Map();
  let active = 0;
  let anchor = 0;
  let columns = 1;
  let cardWidth = 0;
  let lineHeight = 1;
  let pictureHeight = 0;
  let waiting = 0;

  const lines = () => Math.ceil(parts.total() / columns);
  const fullHeight = () => lines() * lineHeight;
  const shownHeight = () => Math.min(fullHeight(), HIGHEST_PX);
  /** How many pixels of the full grid one of the shown one stands for. */
  const scale = () => (fullHeight() > HIGHEST_PX ? (fullHeight() - innerHeight) / (HIGHEST_PX - innerHeight) : 1);
  /** Pixels of the full grid above the screen. */
  const offset = () => Math.max(0, -frame.getBoundingClientRect().top) * scale();
  /** What is added to a place in the full grid to get where it is drawn. */
  const shift = () => offset() / scale() - offset();

  function measure() {
    const { width, shape, words } = parts.sizes();
    const room = frame.clientWidth || 1;
    columns = Math.max(1, Math.floor((room + GAP_PX) / (width + GAP_PX)));
    cardWidth = (room - GAP_PX * (columns - 1)) / columns;
    pictureHeight = Math.round(cardWidth * shape);
    lineHeight = pictureHeight + words + GAP_PX;
    frame.style.height = `${shownHeight()}px`;
    frame.style.setProperty("--picture", `${pictureHeight}px`);
  }

  /** Draw what is on the screen. */
  function draw() {
    waiting = 0;
    const first = Math.max(0, Math.floor(offset() / lineHeight) - SPARE_LINES);
    const last = Math.ceil((offset() + innerHeight) / lineHeight) + SPARE_LINES;
    const from = first * columns;
    const to = Math.min(parts.total(), last * columns) - 1;
    for (const [place, card] of cards) {
      if (place < from || place > to) {
        card.remove();
        cards.delete(place);
      }
    }
    for (let place = from; place <= to; place += 1) {
      let card = cards.get(place);
      if (!card) {
        card = parts.card(place);
        card.id = `review-card-${place}`;
        card.dataset.place = String(place);
        card.setAttribute("aria-posinset", String(place + 1));
        cards.set(place, card);
        // In their order, also for those who read them one by one.
        const next = cards.get(place + 1);
        if (next?.parentNode === node) node.insertBefore(card, next);
        else node.append(card);
      }
      card.setAttribute("aria-setsize", String(parts.total()));
      const left = (place % columns) * (cardWidth + GAP_PX);
      const top = Math.floor(place / columns) * lineHeight + shift();
      card.style.width = `${cardWidth}px`;
      card.style.height = `${lineHeight - GAP_PX}px`;
      card.style.transform = `translate(${left}px, ${top}px)`;
    }
    markActive();
    if (to >= from) parts.onShown(from, to);
  }

  function markActive() {
    for (const [place, card] of cards) card.classList.toggle("active", place === active);
    if (cards.has(active)) node.setAttribute("aria-activedescendant", `review-card-${active}`);
    else node.removeAttribute("aria-activedescendant");
  }

  function soon() {
    if (!waiting) waiting = requestAnimationFrame(() => node.checkVisibility() ? draw() : (waiting = 0));
  }

  /** Bring the active card onto the screen, between what is fixed at the top and the bottom. */
  function reveal() {
    const top = Math.floor(active / columns) * lineHeight;
    const { bottom } = limits();
    const above = top - offset();
    const below = above + lineHeight - (bottom - Math.max(0, frame.getBoundingClientRect().top));
    const start = frame.getBoundingClientRect().top + scrollY;
    if (above < 0) scrollTo(0, start + top / scale() - 8);
    else if (below > 0) scrollTo(0, scrollY + Math.max(0, below / scale()) + 8);
    draw();
  }

  /** Where the bars that stay on the screen begin. */
  function limits() {
    const bar = document.querySelector(".review-bar");
    const top = bar?.checkVisibility() ? bar.getBoundingClientRect().top : innerHeight;
    return { bottom: Math.min(top, innerHeight) };
  }

  /** @param {number} place */
  function moveTo(place) {
    active = Math.max(0, Math.min(parts.total() - 1, place));
    reveal();
  }

  node.addEventListener("keydown", (event) => {
    const move = MOVES[event.key];
    if (!move || event.ctrlKey || event.metaKey || event.altKey || parts.total() === 0) return;
    event.preventDefault();
    const screen = Math.max(1, Math.floor(innerHeight / lineHeight) - 1);
    const target = move(active, columns, screen, parts.total() - 1);
    // Up from the first line and down from the last one, nothing moves.
    if ((event.key === "ArrowUp" || event.key === "ArrowDown") && (target < 0 || target >= parts.total())) return;
    moveTo(target);
    if (event.shiftKey) parts.onRange(Math.min(anchor, active), Math.max(anchor, active));
    else anchor = active;
  });

  // --- pointer ---------------------------------------------------------------------------------

  /** @type {{left: number, top: number, isBand: boolean, isAdded: boolean, last: PointerEvent}|null} */
  let press = null;
  let wasBand = false;
  let pulling = 0;

  /** @param {{clientX: number, clientY: number}} event */
  const inFrame = ({ clientX, clientY }) => {
    const { left, top } = frame.getBoundingClientRect();
    return { left: clientX - left, top: offset() + clientY - Math.max(0, top) };
  };

  /** @param {EventTarget|null} target */
  const placeOf = (target) => {
    const card = target instanceof Element ? target.closest("[data-place]") : null;
    return card instanceof HTMLElement ? Number(card.dataset.place) : null;
  };

  frame.addEventListener("pointerdown", (event) => {
    wasBand = false;
    // A finger scrolls; with it, cards are touched one by one.
    if (event.button !== 0 || event.pointerType === "touch") return;
    press = { ...inFrame(event), isBand: false, isAdded: event.shiftKey || event.ctrlKey || event.metaKey, last: event };
  });
  frame.addEventListener("pointermove", (event) => {
    if (!press) return;
    press.last = event;
    const { left, top } = inFrame(event);
    if (!press.isBand && Math.hypot(left - press.left, top - press.top) < NEAR_PX) return;
    if (!press.isBand) {
      press.isBand = true;
      frame.setPointerCapture(event.pointerId);
      parts.onBand([], "start", press.isAdded);
      pull();
    }
    drawBand();
  });
  /** @param {PointerEvent} event */
  const release = (event) => {
    if (press?.isBand) {
      if (event.type === "pointerup") drawBand("end");
      wasBand = true;
      band.hidden = true;
      cancelAnimationFrame(pulling);
    }
    press = null;
  };
  frame.addEventListener("pointerup", release);
  frame.addEventListener("pointercancel", release);
  frame.addEventListener("click", (event) => {
    const place = placeOf(event.target);
    node.focus({ preventScroll: true });
    if (wasBand || place === null) return;
    active = place;
    markActive();
    if (event.shiftKey) parts.onRange(Math.min(anchor, place), Math.max(anchor, place));
    else {
      anchor = place;
      parts.onPress(place);
    }
  });
  frame.addEventListener("dblclick", (event) => {
    const place = placeOf(event.target);
    if (place !== null) parts.onOpen(place);
  });

  /** Scroll while the band is pulled over an edge. */
  function pull() {
    if (!press?.isBand) return;
    const { clientY } = press.last;
    const { bottom } = limits();
    if (clientY < EDGE_PX) scrollBy(0, (clientY - EDGE_PX) / 3);
    else if (clientY > bottom - EDGE_PX) scrollBy(0, (clientY - bottom + EDGE_PX) / 3);
    if (clientY < EDGE_PX || clientY > bottom - EDGE_PX) drawBand();
    pulling = requestAnimationFrame(pull);
  }

  /** @param {"move"|"end"} phase */
  function drawBand(phase = "move") {
    if (!press) return;
    const now = inFrame(press.last);
    const [left, right] = [press.left, now.left].sort((a, b) => a - b);
    const [top, bottom] = [press.top, now.top].sort((a, b) => a - b);
    band.hidden = false;
    band.style.transform = `translate(${left}px, ${top + shift()}px)`;
    band.style.width = `${right - left}px`;
    band.style.height = `${bottom - top}px`;
    const firstColumn = Math.max(0, Math.floor((left + GAP_PX) / (cardWidth + GAP_PX)));
    const lastColumn = Math.min(columns - 1, Math.floor(right / (cardWidth + GAP_PX)));
    const firstLine = Math.max(0, Math.floor((top + GAP_PX) / lineHeight));
    const lastLine = Math.min(lines() - 1, Math.floor(bottom / lineHeight));
    /** @type {[number, number][]} */
    const ranges = [];
    for (let line = firstLine; line <= lastLine; line += 1) {
      const to = Math.min(line * columns + lastColumn, parts.total() - 1);
      if (line * columns + firstColumn <= to) ranges.push([line * columns + firstColumn, to]);
    }
    parts.onBand(ranges, phase, press.isAdded);
  }

  addEventListener("scroll", soon, { passive: true });
  new ResizeObserver(() => {
    measure();
    soon();
  }).observe(frame);

  return {
    node: frame,
    list: node,
    /** The place that keys act on. */
    active: () => active,
    /** Draw all anew: other rows, or another number of them. */
    rebuild() {
      active = Math.max(0, Math.min(active, parts.total() - 1));
      anchor = Math.min(anchor, active);
      for (const card of cards.values()) card.remove();
      cards.clear();
      node.hidden = parts.total() === 0;
      measure();
      draw();
    },
    /** Begin at the first row again. */
    restart() {
      active = anchor = 0;
    },
    draw,
    /**
     * Do something with each card in the page.
     * @param {(card: HTMLElement, place: number) => void} act
     */
    each(act) {
      for (const [place, card] of cards) act(card, place);
    },
    /**
     * Replace cards whose rows have come.
     * @param {(card: HTMLElement, place: number) => boolean} isOld
     */
    renew(isOld) {
      for (const [place, card] of [...cards]) {
        if (isOld(card, place)) {
          card.remove();
          cards.delete(place);
        }
      }
      draw();
    },
    /** Ranges are drawn from the active place. */
    setAnchor() {
      anchor = active;
    },
  };
}

/** @typedef {ReturnType<typeof makeGrid>} Grid */
