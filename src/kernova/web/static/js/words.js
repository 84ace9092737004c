/** Numbers and times in words. */

/**
 * "1 row", "1,203 rows".
 * @param {number} count
 * @param {string} one
 * @param {string} [several]
 */
export function counted(count, one, several = `${one}s`) {
  return `${whole(count)} ${count === 1 ? one : several}`;
}

/**
 * "1,203": written as in the server's sentences.
 * @param {number} count
 */
export function whole(count) {
  return count.toLocaleString("en-US");
}

/**
 * A name in quotation marks.
 * @param {string} name
 */
export function quoted(name) {
  return `“${name}”`;
}

/**
 * "a, b and c"; of more than `most`, the first and how many more.
 * @param {string[]} names
 * @param {number} most
 */
export function listed(names, most = 5) {
  const shown = names.slice(0, most);
  const left = names.length - shown.length;
  if (left > 0) return `${shown.join(", ")} and ${whole(left)} more`;
  if (shown.length < 2) return shown.join("");
  return `${shown.slice(0, -1).join(", ")} and ${shown.at(-1)}`;
}

/**
 * "14:05" today, "3 May, 14:05" before.
 * @param {string} at
 */
export function timeWords(at) {
  const time = new Date(at);
  if (Number.isNaN(time.getTime())) return "";
  const clock = time.toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
  if (time.toDateString() === new Date().toDateString()) return clock;
  return `${time.toLocaleDateString([], { day: "numeric", month: "short" })}, ${clock}`;
}

/**
 * A value on an axis, in few digits.
 * @param {number} value
 */
export function axisNumber(value) {
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 1e6 || size < 1e-3) return value.toExponential(1).replace("e+", "e");
  return String(Number(value.toPrecision(3)));
}
