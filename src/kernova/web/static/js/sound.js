/** A sound with its spectrogram: axes, a line that runs along, and speeds down to an eighth. */

import { getPicture } from "./api.js";
import { button, element } from "./dom.js";
import { axisNumber } from "./words.js";

export const SLOWNESSES = [1, 2, 4, 8];
const SPEED_WORDS = { 1: "1×", 2: "½×", 4: "¼×", 8: "⅛×" };
const SPOKEN = { 1: "normal speed", 2: "half speed", 4: "quarter speed", 8: "an eighth of the speed" };

/** The sound of the question: what the keys reach. */
let inHand = null;

/** Play or stop the question's sound. */
export function togglePlay() {
  inHand?.toggle();
}

/** Play the question's sound slower, and after the slowest at its own speed. */
export function playSlower() {
  inHand?.slower();
}

/** Forget the sound in hand, and be silent. */
export function silence() {
  inHand?.stop();
  inHand = null;
}

/**
 * Show a sound.
 * @param {import("./types.js").Media} media
 * @param {string} id
 * @param {{isInHand?: boolean}} [options] whether the keys play this one
 */
export function soundPlayer(media, id, { isInHand = false } = {}) {
  const audio = new Audio();
  audio.preload = "auto";
  let slowness = 1;
  const load = () => (audio.src = withSlowness(media.sound, slowness));
  const play = () => void audio.play().catch(() => {});
  const toggle = () => (audio.paused ? play() : audio.pause());
  const choose = (chosen, isPlayed = true) => {
    slowness = chosen;
    for (const control of speeds) control.setAttribute("aria-pressed", String(Number(control.value) === slowness));
    load();
    if (isPlayed) play();
  };
  const speeds = SLOWNESSES.map((speed) => button(SPEED_WORDS[speed], () => choose(speed), { value: speed, class: "small", "aria-label": `Play at ${SPOKEN[speed]}` }));
  const player = button("▶ Play", toggle, { class: "play", "data-testid": "play", "aria-keyshortcuts": "Space", title: "Space" });
  const head = element("i", { class: "playhead" });
  const picture = spectrogramFigure(media, id, head);
  const follow = () => {
    const share = audio.duration > 0 ? audio.currentTime / audio.duration : 0;
    head.style.left = `${share * 100}%`;
    head.hidden = share === 0;
    if (!audio.paused) requestAnimationFrame(follow);
  };
  const showState = () => {
    player.replaceChildren(audio.paused ? "▶ Play" : "❚❚ Pause");
    follow();
  };
  for (const event of ["play", "pause", "ended", "seeked"]) audio.addEventListener(event, showState);
  picture.addEventListener("click", (event) => {
    const plot = picture.querySelector(".plot").getBoundingClientRect();
    const share = (event.clientX - plot.left) / plot.width;
    if (share >= 0 && share <= 1 && audio.duration > 0) audio.currentTime = share * audio.duration;
    play();
  });
  choose(1, false);
  if (isInHand) {
    silence();
    const slower = () => choose(SLOWNESSES[(SLOWNESSES.indexOf(slowness) + 1) % SLOWNESSES.length]);
    inHand = { toggle, slower, stop: () => audio.pause() };
  }
  return element("div", { class: "sound" }, picture, element("div", { class: "line", role: "group", "aria-label": "Sound" }, player, ...speeds));
}

/** The spectrogram with its axes: seconds along, kilohertz up. */
function spectrogramFigure(media, id, head) {
  const image = element("img", { alt: `Spectrogram of ${id}`, draggable: "false" });
  const plot = element("div", { class: "plot" }, image, head);
  const figure = element("div", { class: "spectrogram with-axes" }, plot);
  getPicture(media.spectrogram).then(({ address, headers }) => {
    image.addEventListener("load", () => URL.revokeObjectURL(address));
    image.src = address;
    figure.append(...spectrogramAxes(headers));
  }, () => plot.classList.add("missing"));
  return figure;
}

/** What the axes span stands in the headers of the picture. */
function spectrogramAxes(headers) {
  const value = (name) => Number(headers.get(`X-Kernova-${name}`));
  const [start, seconds, lowest, highest] = ["Start", "Seconds", "Lowest-Hz", "Highest-Hz"].map(value);
  const up = ticks(lowest / 1000, highest / 1000, 5).map((kilohertz) => tickMark("bottom", (kilohertz - lowest / 1000) / ((highest - lowest) / 1000), kilohertz));
  const along = ticks(start, start + seconds, 6).map((second) => tickMark("left", (second - start) / seconds, second));
  return [
    element("div", { class: "axis-up", "aria-hidden": "true" }, ...up, element("em", {}, "kHz")),
    element("div", { class: "axis-along", "aria-hidden": "true" }, ...along, element("em", {}, "s")),
  ];
}

function tickMark(side, share, value) {
  const mark = element("span", {}, axisNumber(value));
  mark.style[side] = `${share * 100}%`;
  return mark;
}

/** Give round numbers between two ends, about as many as wished. */
export function ticks(low, high, wished) {
  const rough = (high - low) / wished;
  if (!(rough > 0)) return [low];
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((size) => size >= rough * 0.999);
  const first = Math.ceil(low / step - 1e-9);
  return Array.from({ length: Math.floor(high / step + 1e-9) - first + 1 }, (_, place) => Number(((first + place) * step).toPrecision(12)));
}

function withSlowness(address, slowness) {
  const url = new URL(address, location.href);
  url.searchParams.set("slowness", String(slowness));
  return url.pathname + url.search;
}
