/** What the browser keeps between visits. Storage may be forbidden or full: then nothing is kept, and nothing breaks. */

/** @typedef {"localStorage"|"sessionStorage"} StorageName */

const PREFIX = "kernova.";

/**
 * Give what is kept under a name, or null.
 * @param {string} name
 * @param {StorageName} storage
 */
export function kept(name, storage = "localStorage") {
  try {
    return window[storage].getItem(PREFIX + name);
  } catch {
    return null;
  }
}

/**
 * Keep a text under a name; null forgets it.
 * @param {string} name
 * @param {string|null} text
 * @param {StorageName} storage
 */
export function keep(name, text, storage = "localStorage") {
  try {
    if (text === null) window[storage].removeItem(PREFIX + name);
    else window[storage].setItem(PREFIX + name, text);
  } catch {
    // Private windows and full disks: the page works without.
  }
}

/**
 * Give the names that begin with a text, without the page's prefix.
 * @param {string} beginning
 */
export function keptNames(beginning) {
  try {
    return Object.keys(localStorage)
      .filter((name) => name.startsWith(PREFIX + beginning))
      .map((name) => name.slice(PREFIX.length));
  } catch {
    return [];
  }
}
