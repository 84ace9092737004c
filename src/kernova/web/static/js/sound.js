/** A sound with its spectrogram: axes, a playhead, speeds down to one eighth, and sounds of other rows in their place. */

import { getPicture } from "./api.js";
import { button, element, fill, within } from "./dom.js";
import { keep, kept } from "./kept.js";
import { bind } from "./keys.js";
import { store } from "./store.js";
import { axisNumber } from "./words.js";

/** @typedef {1|2|4|8} Slowness */

/** @type {Slowness[]} */
const SLOWNESSES = [1, 2, 4, 8];
const SPEED_WORDS = { 1: "1×", 2: "½×", 4: "¼×", 8: "⅛×" };
const SPOKEN = { 1: "normal speed", 2: "half speed", 4: "quarter speed", 8: "one-eighth speed" };

/**
 * The sound of the question: what the keys reach.
 * @type {{toggle: () => void, slower: () => void, stop: () => void}|null}
 */
let current = null;

/** Sounds of rows in lists: one plays at a time. */
const beside = new Audio();
let besideRow = -1;
let showBeside = () => {};
for (const event of ["play", "pause", "ended"]) beside.addEventListener(event, () => showBeside());

/** Bind the keys for sounds that lists need. */
export function startSoundKeys() {
  bind("p", "Sound", "play the row of a list that has the focus", () => {});
}

/**
 * Let a row in a list be played in its place: by the key P while it has the focus, or by its button.
 * @param {HTMLElement} node
 * @param {number} row
 * @param {string} id
 */
export function playable(node, row, id) {
  if (store.session?.media !== "sound") return;
  const control = button("▶", () => playBeside(row, control), { class: "quiet play-beside", "aria-label": `Play ${id}`, title: "Play (P)", tabindex: "-1", "data-testid": "play-beside" });
  node.addEventListener("keydown", (event) => {
    if (event.key.toLowerCase() !== "p" || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    playBeside(row, control);
  });
  node.append(control);
}

/**
 * @param {number} row
 * @param {HTMLElement} control
 */
function playBeside(row, control) {
  current?.stop();
  if (besideRow === row && !beside.paused) return void beside.pause();
  beside.pause();
  showBeside();
  besideRow = row;
  beside.src = `/api/media/${row}/sound`;
  showBeside = () => {
    const isPlaying = besideRow === row && !beside.paused && !beside.ended;
    control.classList.toggle("playing", isPlaying);
    control.replaceChildren(isPlaying ? "❚❚" : "▶");
  };
  void beside.play().catch(() => {});
}

/**
 * The address of a spectrogram with the chosen frequencies and contrast.
 * @param {string} address
 */
export function spectrogramAddress(address) {
  const url = new URL(address, location.href);
  const [lowest, highest] = [Number(kept("lowest-khz")), Number(kept("highest-khz"))];
  if (lowest > 0) url.searchParams.set("lowest", String(Math.round(lowest * 1000)));
  if (highest > lowest) url.searchParams.set("highest", String(Math.round(highest * 1000)));
  const contrast = kept("spectrogram-contrast");
  if (contrast === "low" || contrast === "high") url.searchParams.set("contrast", contrast);
  return url.pathname + url.search;
}

/** Play or stop the question's sound. */
export function togglePlay() {
  current?.toggle();
}

/** Play the question's sound slower, and after the slowest at its own speed. */
export function playSlower() {
  current?.slower();
}

/** Stop the question's sound, and forget it. */
export function silence() {
  current?.stop();
  current = null;
  beside.pause();
}

/**
 * Show a sound.
 * @param {import("./types.js").MediaFile} media
 * @param {string} id
 * @param {{isInHand?: boolean}} [options] whether the keys play this one
 */
export function soundPlayer(media, id, { isInHand = false } = {}) {
  const audio = new Audio();
  audio.preload = "auto";
  /** @type {Slowness} */
  let slowness = 1;
  const load = () => (audio.src = withSlowness(media.sound ?? "", slowness));
  const play = () => void audio.play().catch(() => {});
  const toggle = () => (audio.paused ? play() : audio.pause());
  /** @type {(chosen: Slowness, isPlayed?: boolean) => void} */
  const choose = (chosen, isPlayed = true) => {
    slowness = chosen;
    for (const control of speeds) control.setAttribute("aria-pressed", String(Number(control.value) === slowness));
    load();
    if (isPlayed) play();
  };
  const speeds = SLOWNESSES.map((speed) => button(SPEED_WORDS[speed], () => choose(speed), { value: speed, class: "small", "aria-label": `Play at ${SPOKEN[speed]}` }));
  const player = button("▶ Play", toggle, { class: "play", "data-testid": "play", "aria-keyshortcuts": "Space", title: "Space" });
  const head = element("i", { class: "playhead" });
  const picture = element("div", {});
  const draw = () => void fill(picture, spectrogramFigure(media, id, head));
  draw();
  const follow = () => {
    const fraction = audio.duration > 0 ? audio.currentTime / audio.duration : 0;
    head.style.left = `${fraction * 100}%`;
    head.hidden = fraction === 0;
    if (!audio.paused) requestAnimationFrame(follow);
  };
  const showState = () => {
    player.replaceChildren(audio.paused ? "▶ Play" : "❚❚ Pause");
    follow();
  };
  for (const event of ["play", "pause", "ended", "seeked"]) audio.addEventListener(event, showState);
  picture.addEventListener("click", (event) => {
    const plot = within(picture, ".plot").getBoundingClientRect();
    const fraction = (event.clientX - plot.left) / plot.width;
    if (fraction >= 0 && fraction <= 1 && audio.duration > 0) audio.currentTime = fraction * audio.duration;
    play();
  });
  audio.loop = kept("loop") === "on";
  choose(1, isInHand && kept("autoplay") === "on");
  if (isInHand) {
    silence();
    const slower = () => choose(SLOWNESSES[(SLOWNESSES.indexOf(slowness) + 1) % SLOWNESSES.length]);
    current = { toggle, slower, stop: () => audio.pause() };
  }
  return element("div", { class: "sound" }, picture,
    element("div", { class: "line", role: "group", "aria-label": "Sound" }, player, ...speeds),
    soundOptions(draw, () => (audio.loop = kept("loop") === "on")));
}

/**
 * What applies to this sound and to the next ones.
 * @param {() => void} redraw
 * @param {() => void} loop
 */
function soundOptions(redraw, loop) {
  /** @type {(name: string, words: string, act: () => void) => HTMLElement} */
  const choice = (name, words, act) => {
    const box = element("input", { type: "checkbox", checked: kept(name) === "on", "data-testid": name });
    box.addEventListener("change", () => {
      keep(name, box.checked ? "on" : null);
      act();
    });
    return element("label", { class: "check-line" }, box, words);
  };
  /** @type {(name: string, words: string) => HTMLElement} */
  const border = (name, words) => {
    const field = element("input", { type: "text", inputmode: "decimal", class: "small khz", "aria-label": words, placeholder: name === "lowest-khz" ? "0" : "auto", value: kept(name) ?? "", "data-testid": name });
    field.addEventListener("change", () => {
      const value = Number(field.value.replace(",", "."));
      keep(name, value > 0 && value <= 1000 ? String(value) : null);
      field.value = kept(name) ?? "";
      redraw();
    });
    return field;
  };
  const contrast = element("select", { class: "small", "aria-label": "Contrast of the spectrogram", "data-testid": "spectrogram-contrast" },
    ...["low", "normal", "high"].map((name) => element("option", { value: name }, `${name} contrast`)));
  contrast.value = kept("spectrogram-contrast") ?? "normal";
  contrast.addEventListener("change", () => {
    keep("spectrogram-contrast", contrast.value === "normal" ? null : contrast.value);
    redraw();
  });
  const details = element("details", { class: "sound-options", "aria-label": "Sound options", open: kept("sound-options") === "open" },
    element("summary", {}, "Sound options"),
    element("div", { class: "line" }, choice("autoplay", "Play when shown", () => {}), choice("loop", "Repeat", loop)),
    element("div", { class: "line" }, border("lowest-khz", "Lowest frequency in kilohertz"), "to", border("highest-khz", "Highest frequency in kilohertz"), "kHz", contrast));
  details.addEventListener("toggle", () => keep("sound-options", details.open ? "open" : null));
  return details;
}

/**
 * The spectrogram with its axes: seconds across, kilohertz up.
 * @param {import("./types.js").MediaFile} media
 * @param {string} id
 * @param {HTMLElement} head the playhead
 */
function spectrogramFigure(media, id, head) {
  const image = element("img", { alt: `Spectrogram of ${id}`, draggable: "false" });
  const plot = element("div", { class: "plot" }, image, head);
  const figure = element("div", { class: "spectrogram with-axes" }, plot);
  getPicture(spectrogramAddress(media.spectrogram ?? "")).then(({ address, headers }) => {
    image.addEventListener("load", () => URL.revokeObjectURL(address));
    image.src = address;
    figure.append(...spectrogramAxes(headers));
  }, () => plot.classList.add("missing"));
  return figure;
}

/**
 * The range of the axes is in the headers of the picture.
 * @param {Headers} headers
 */
function spectrogramAxes(headers) {
  /** @param {string} name */
  const value = (name) => Number(headers.get(`X-Kernova-${name}`));
  const [start, seconds, lowest, highest] = ["Start", "Seconds", "Lowest-Hz", "Highest-Hz"].map(value);
  const up = ticks(lowest / 1000, highest / 1000, 5).map((kilohertz) => tickMark("bottom", (kilohertz - lowest / 1000) / ((highest - lowest) / 1000), kilohertz));
  const along = ticks(start, start + seconds, 6).map((second) => tickMark("left", (second - start) / seconds, second));
  return [
    element("div", { class: "axis-up", "aria-hidden": "true" }, ...up, element("em", {}, "kHz")),
    element("div", { class: "axis-along", "aria-hidden": "true" }, ...along, element("em", {}, "s")),
  ];
}

/**
 * @param {"bottom"|"left"} side
 * @param {number} fraction
 * @param {number} value
 */
function tickMark(side, fraction, value) {
  const mark = element("span", {}, axisNumber(value));
  mark.style[side] = `${fraction * 100}%`;
  return mark;
}

/**
 * Give round numbers between two ends, about as many as wanted.
 * @param {number} low
 * @param {number} high
 * @param {number} wanted
 */
export function ticks(low, high, wanted) {
  const rough = (high - low) / wanted;
  if (!(rough > 0)) return [low];
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((size) => size >= rough * 0.999) ?? 10 * power;
  const first = Math.ceil(low / step - 1e-9);
  return Array.from({ length: Math.floor(high / step + 1e-9) - first + 1 }, (_, index) => Number(((first + index) * step).toPrecision(12)));
}

/**
 * @param {string} address
 * @param {Slowness} slowness
 */
function withSlowness(address, slowness) {
  const url = new URL(address, location.href);
  url.searchParams.set("slowness", String(slowness));
  return url.pathname + url.search;
}
