/** Gestures on the map: drag and pinch, wheel, click, a box with Shift, and the keyboard. */

const NEAR_PX = 5; // a press that moves less is a click
const STEP_PX = 60;
/** @typedef {[number, number]} Position */
/** @typedef {[number, number, number, number]} Box */

/** @type {Object<string, Position>} */
const MOVES = { ArrowLeft: [1, 0], ArrowRight: [-1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };

/**
 * Listen to everything that moves the map.
 * @param {HTMLCanvasElement} canvas
 * @param {import("./camera.js").Camera} camera
 * @param {{onMove: () => void, onRest: () => void, onHover: (at: Position|null) => void,
 *   onClick: (left: number, top: number, isByKey: boolean) => void, onBox: (box: Box|null, isDone: boolean) => void}} told
 */
export function startGestures(canvas, camera, told) {
  /** @type {Map<number, Position>} */
  const pointers = new Map();
  /** @type {{position: Position, isBox: boolean, isMoved: boolean}|null} */
  let start = null;
  /** @type {(event: MouseEvent) => Position} */
  const at = (event) => {
    const { left, top } = canvas.getBoundingClientRect();
    return [event.clientX - left, event.clientY - top];
  };

  canvas.addEventListener("pointerdown", (event) => {
    canvas.setPointerCapture(event.pointerId);
    pointers.set(event.pointerId, at(event));
    start = pointers.size === 1 ? { position: at(event), isBox: event.shiftKey, isMoved: false } : null;
  });
  canvas.addEventListener("pointermove", (event) => {
    const [left, top] = at(event);
    const before = pointers.get(event.pointerId);
    if (!before) return told.onHover([left, top]);
    if (pointers.size === 2) pinch(event.pointerId, [left, top]);
    else if (start && Math.hypot(left - start.position[0], top - start.position[1]) > NEAR_PX) start.isMoved = true;
    if (pointers.size === 1 && start?.isMoved) {
      if (start.isBox) told.onBox([...start.position, left, top], false);
      else camera.pan(left - before[0], top - before[1]);
      told.onMove();
    }
    if (pointers.size !== 1 || start?.isMoved) pointers.set(event.pointerId, [left, top]);
  });
  /** @param {PointerEvent} event */
  const end = (event) => {
    if (!pointers.delete(event.pointerId)) return;
    const [left, top] = at(event);
    if (event.type === "pointerup" && start) {
      if (!start.isMoved) told.onClick(left, top, false);
      else if (start.isBox) told.onBox([...start.position, left, top], true);
    } else told.onBox(null, false);
    start = null;
    told.onRest();
  };
  canvas.addEventListener("pointerup", end);
  canvas.addEventListener("pointercancel", end);
  canvas.addEventListener("pointerleave", () => told.onHover(null));

  /**
   * @param {number} id
   * @param {Position} now
   */
  function pinch(id, now) {
    const before = pointers.get(id);
    const other = [...pointers].find(([key]) => key !== id)?.[1];
    if (!before || !other) return;
    /** @param {Position} one */
    const spread = (one) => Math.hypot(one[0] - other[0], one[1] - other[1]);
    camera.pan((now[0] - before[0]) / 2, (now[1] - before[1]) / 2);
    if (spread(before) > 1) camera.zoomAt(spread(now) / spread(before), (now[0] + other[0]) / 2, (now[1] + other[1]) / 2);
    told.onMove();
  }

  let resting = 0;
  canvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    const lines = event.deltaMode === 1 ? event.deltaY * 16 : event.deltaY;
    camera.zoomAt(Math.exp(-Math.max(-120, Math.min(120, lines)) * 0.002), ...at(event));
    told.onMove();
    clearTimeout(resting);
    resting = setTimeout(told.onRest, 160);
  }, { passive: false });
  canvas.addEventListener("dblclick", (event) => event.preventDefault());
  canvas.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    if (event.key in MOVES) camera.pan(MOVES[event.key][0] * STEP_PX, MOVES[event.key][1] * STEP_PX);
    else if (event.key === "+" || event.key === "=") camera.zoomAt(1.5);
    else if (event.key === "-") camera.zoomAt(1 / 1.5);
    else if (event.key === "0") camera.fit();
    else if (event.key === "Enter") told.onClick(camera.wide / 2, camera.high / 2, true);
    else return;
    event.preventDefault();
    event.stopPropagation();
    told.onMove();
    told.onRest();
  });
}
