/** What a row looks or sounds like: large for the question, small for lists. */

import { get } from "./api.js";
import { element, fill } from "./dom.js";
import { featureStrip } from "./features.js";
import { outlineDrawing } from "./outline.js";
import { soundPlayer } from "./sound.js";
import { store } from "./store.js";

const CARDS_KEPT = 600;

/** @type {Map<number, Promise<import("./types.js").Card>>} */
const cards = new Map();
let cardsVersion = null;

/** Read a row's card; each once for a version of the state. */
export function readCard(row) {
  const version = store.state?.version;
  if (version !== cardsVersion || cards.size > CARDS_KEPT) cards.clear();
  cardsVersion = version;
  if (!cards.has(row)) {
    const card = get(`/api/rows/${row}`);
    card.catch(() => cards.delete(row));
    cards.set(row, card);
  }
  return cards.get(row);
}

/** What rows of this session have to see or hear. */
export function mediaKind() {
  return store.session?.media ?? "none";
}

/** Show a row large; null where it has nothing but values. */
export function largeMedia(card, { isInHand = false } = {}) {
  const { media, id } = card;
  if (media.picture) return element("figure", { class: "picture-frame" }, picture(media.picture, `Picture of ${id}`, 768, "eager"));
  if (media.sound) return soundPlayer(media, id, { isInHand });
  if (media.outline) return element("figure", { class: "outline-frame" }, outlineDrawing(media.outline, { words: `Landmarks of ${id} over the mean shape` }));
  return null;
}

/** Show a row small, once it comes into sight. */
export function thumbnail(row, names = []) {
  const frame = element("span", { class: "thumb", "data-kind": mediaKind() });
  if (mediaKind() === "picture") return fill(frame, picture(`/api/media/${row}/picture`, "", 160, "lazy"));
  if (mediaKind() === "sound") return fill(frame, picture(`/api/media/${row}/spectrogram`, "", null, "lazy"));
  whenSeen(frame, async () => {
    const card = await readCard(row).catch(() => null);
    if (!card) return frame.classList.add("missing");
    if (card.media.outline) return void fill(frame, outlineDrawing(card.media.outline, { isSmall: true }));
    const { strip, words } = featureStrip(card.features, names);
    frame.title = words;
    fill(frame, strip);
  });
  return frame;
}

function picture(address, alt, largest, loading) {
  const url = new URL(address, location.href);
  if (largest) url.searchParams.set("largest", String(largest));
  const image = element("img", { alt, loading, decoding: "async", draggable: "false" });
  image.addEventListener("error", () => image.parentElement?.classList.add("missing"));
  image.src = url.pathname + url.search;
  return image;
}

const waiting = new WeakMap();
const sight = new IntersectionObserver((entries) => {
  for (const entry of entries) {
    if (!entry.isIntersecting) continue;
    sight.unobserve(entry.target);
    waiting.get(entry.target)?.();
    waiting.delete(entry.target);
  }
}, { rootMargin: "200px" });

/** Do something once an element comes into sight. */
export function whenSeen(node, act) {
  waiting.set(node, act);
  sight.observe(node);
}
