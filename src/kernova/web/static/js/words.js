/** Numbers, names and times in words, and the user's own noun for rows. */

let noun = { one: "row", several: "rows" };

/**
 * Call rows by the user's noun from now on.
 * @param {import("./types.js").RowNoun} given
 */
export function useNoun(given) {
  noun = given;
}

/**
 * The noun for a row or, without a count of one, for rows.
 * @param {number} [count]
 */
export function rowNoun(count = 2) {
  return count === 1 ? noun.one : noun.several;
}

/**
 * A sentence about rows with the user's noun; names in quotation marks, which are data, stay.
 * @param {string} sentence
 */
export function worded(sentence) {
  if (noun.one === "row" && noun.several === "rows") return sentence;
  return sentence.replace(/(?<!\w)'[^']*'(?!\w)|"[^"]*"|“[^”]*”|(\b[Aa] )?\b([Rr]ows?)\b/g, (found, article = "", word) => {
    if (!word) return found;
    const own = /s$/.test(word) ? noun.several : noun.one;
    const shown = word[0] === "R" ? own[0].toUpperCase() + own.slice(1) : own;
    return (article && /^[aeiou]/i.test(own) ? `${article[0]}n ` : article) + shown;
  });
}

/**
 * "1 question", "1,203 questions"; "row" stands for the user's noun.
 * @param {number} count
 * @param {string} one
 * @param {string} [several]
 */
export function counted(count, one, several = `${one}s`) {
  return `${whole(count)} ${worded(count === 1 ? one : several)}`;
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
 * How the key of a category is shown: "3", "G", "0 4".
 * @param {string|null} key
 */
export function keyShown(key) {
  return key === null ? "" : [...key].join(" ").toUpperCase();
}

/**
 * A long name without its middle: names that begin alike often differ at their ends.
 * @param {string} name
 * @param {number} most
 */
export function shortened(name, most) {
  const letters = [...name];
  if (letters.length <= most) return name;
  const end = Math.floor((most - 1) / 2);
  // Rather between words, where one begins or ends nearby.
  const first = letters.slice(0, most - 1 - end).join("").replace(/(?<=.{6})\s\S{0,3}$/u, "");
  const last = letters.slice(-end).join("").replace(/^\S{0,3}\s(?=.{6})/u, "");
  return `${first.trimEnd()}…${last.trimStart()}`;
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
