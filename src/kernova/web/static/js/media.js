/** What a row looks or sounds like: large for the question, small for lists. */

import { get } from "./api.js";
import { element, fill } from "./dom.js";
import { featureStrip } from "./features.js";
import { outlineDrawing } from "./outline.js";
import { soundPlayer } from "./sound.js";
import { store } from "./store.js";

/** @typedef {import("./page_types.js").Outline} Outline */

const CARDS_KEPT = 600;

/** @type {Map<number, Promise<import("./types.js").Card>>} */
const cards = new Map();
/** @type {number|undefined} */
let cardsVersion;

/**
 * Read a row's card; each once for a version of the state.
 * @param {number} row
 */
export function readCard(row) {
  const version = store.state?.version;
  if (version !== cardsVersion || cards.size > CARDS_KEPT) cards.clear();
  cardsVersion = version;
  const before = cards.get(row);
  if (before) return before;
  const card = get("/api/rows/{row}", { row });
  card.catch(() => cards.delete(row));
  cards.set(row, card);
  return card;
}

/** Which media the rows of this session have. */
export function mediaKind() {
  return store.session?.media ?? "none";
}

/**
 * Show a row large; null where it has nothing but values.
 * @param {import("./types.js").Card} card
 * @param {{isInHand?: boolean}} [options] whether the keys play its sound
 */
export function largeMedia(card, { isInHand = false } = {}) {
  const { media, id } = card;
  if (media.picture) return element("figure", { class: "picture-frame" }, picture(media.picture, `Picture of ${id}`, 768, "eager"));
  if (media.sound) return soundPlayer(media, id, { isInHand });
  if (media.outline) return element("figure", { class: "outline-frame" }, outlineDrawing(/** @type {Outline} */ (media.outline), { words: `Landmarks of ${id} over the mean shape` }));
  return null;
}

/**
 * Show a row small, once it becomes visible.
 * @param {number} row
 * @param {string[]} names the features to show, for rows without media
 * @returns {HTMLElement}
 */
export function thumbnail(row, names = []) {
  const frame = element("span", { class: "thumb", "data-kind": mediaKind() });
  if (mediaKind() === "picture") return fill(frame, picture(`/api/media/${row}/picture`, "", 160, "lazy"));
  if (mediaKind() === "sound") return fill(frame, picture(`/api/media/${row}/spectrogram`, "", null, "lazy"));
  whenSeen(frame, async () => {
    const card = await readCard(row).catch(() => null);
    if (!card) return void frame.classList.add("missing");
    if (card.media.outline) return void fill(frame, outlineDrawing(/** @type {Outline} */ (card.media.outline), { isSmall: true }));
    const { strip, words } = featureStrip(card.features, names);
    frame.title = words;
    fill(frame, strip);
  });
  return frame;
}

/**
 * @param {string} address
 * @param {string} alt
 * @param {number|null} largest
 * @param {"eager"|"lazy"} loading
 */
function picture(address, alt, largest, loading) {
  const url = new URL(address, location.href);
  if (largest) url.searchParams.set("largest", String(largest));
  const image = element("img", { alt, loading, decoding: "async", draggable: "false" });
  image.addEventListener("error", () => image.parentElement?.classList.add("missing"));
  image.src = url.pathname + url.search;
  return image;
}

/** @type {WeakMap<Element, () => void>} */
const waiting = new WeakMap();
const observer = new IntersectionObserver((entries) => {
  for (const entry of entries) {
    if (!entry.isIntersecting) continue;
    observer.unobserve(entry.target);
    waiting.get(entry.target)?.();
    waiting.delete(entry.target);
  }
}, { rootMargin: "200px" });

/**
 * Do something once an element becomes visible.
 * @param {Element} node
 * @param {() => void} act
 */
function whenSeen(node, act) {
  waiting.set(node, act);
  observer.observe(node);
}
