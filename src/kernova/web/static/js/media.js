/** What a row looks or sounds like: large for the question, small for lists. A row may have several pictures or sounds. */

import { get } from "./api.js";
import { button, element, fill } from "./dom.js";
import { featureStrip } from "./features.js";
import { bind } from "./keys.js";
import { outlineDrawing } from "./outline.js";
import { forgetPicture, picturePanel, startPictureTools } from "./picture_tools.js";
import { soundPlayer, spectrogramAddress, startSoundKeys } from "./sound.js";
import { store } from "./store.js";

/** @typedef {import("./page_types.js").Outline} Outline */

const CARDS_KEPT = 600;

/** Which of a question's files is shown: the next question begins with the same. */
let fileShown = 0;
/** @type {((step: number) => void)|null} */
let stepFile = null;

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

/** Bind the keys for pictures and sounds. */
export function startMedia() {
  startPictureTools();
  startSoundKeys();
  bind("[", "Picture", "previous picture or sound of the row", () => stepFile?.(-1), "[");
  bind("]", "Picture", "next picture or sound of the row", () => stepFile?.(1), "]");
}

/**
 * Show a row large; null where it has nothing but values.
 * @param {import("./types.js").Card} card
 * @param {{isInHand?: boolean}} [options] whether the keys reach it
 */
export function largeMedia(card, { isInHand = false } = {}) {
  const { media, id } = card;
  if (isInHand) {
    stepFile = null;
    forgetPicture();
  }
  if (media.files.length > 1) return severalFiles(card, isInHand);
  if (media.files.length === 1) return largeFile(media.files[0], id, isInHand);
  if (media.outline) return element("figure", { class: "outline-frame" }, outlineDrawing(/** @type {Outline} */ (media.outline), { words: `Landmarks of ${id} over the mean shape` }));
  return null;
}

/**
 * @param {import("./types.js").MediaFile} file
 * @param {string} id
 * @param {boolean} isInHand
 */
function largeFile(file, id, isInHand) {
  if (file.picture) return picturePanel(file.picture, `Picture of ${id}`, { isInHand });
  return soundPlayer(file, id, { isInHand });
}

/**
 * Show the pictures or sounds of a row, one at a time.
 * @param {import("./types.js").Card} card
 * @param {boolean} isInHand
 */
function severalFiles({ id, media }, isInHand) {
  const { files } = media;
  const body = element("div", {});
  let at = isInHand ? Math.min(fileShown, files.length - 1) : 0;
  const choices = files.map(({ name }, index) => button(shortName(name, id) || String(index + 1), () => show(index), { class: "small", "data-testid": "file" }));
  /** @param {number} index */
  function show(index) {
    at = (index + files.length) % files.length;
    if (isInHand) fileShown = at;
    choices.forEach((choice, place) => choice.setAttribute("aria-pressed", String(place === at)));
    fill(body, largeFile(files[at], `${id}, ${shortName(files[at].name, id) || at + 1}`, isInHand));
  }
  show(at);
  if (isInHand) stepFile = (step) => show(at + step);
  const what = files[0].picture ? "Pictures" : "Sounds";
  return element("div", { class: "several-files" },
    element("div", { class: "line file-choices", role: "group", "aria-label": `${what} of ${id}` }, ...choices), body);
}

/**
 * What a file's name says beyond the row's id.
 * @param {string} name
 * @param {string} id
 */
function shortName(name, id) {
  return name.startsWith(id) ? name.slice(id.length).replace(/^[\s_.-]+/, "") : name;
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
  if (mediaKind() === "sound") return fill(frame, picture(spectrogramAddress(`/api/media/${row}/spectrogram`), "", null, "lazy"));
  whenSeen(frame, async () => {
    const card = await readCard(row).catch(() => null);
    if (!card) return void frame.classList.add("missing");
    if (card.media.outline) return void fill(frame, outlineDrawing(/** @type {Outline} */ (card.media.outline), { isSmall: true }));
    const { strip, words } = featureStrip(card, names);
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
