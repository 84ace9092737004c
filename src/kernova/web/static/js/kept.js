/** What the browser keeps between visits. Storage may be forbidden or full: then nothing is kept, and nothing breaks. */

const PREFIX = "kernova.";

/** Give what is kept under a name, or null. */
export function kept(name, storage = "localStorage") {
  try {
    return window[storage].getItem(PREFIX + name);
  } catch {
    return null;
  }
}

/** Keep a text under a name; null forgets it. */
export function keep(name, text, storage = "localStorage") {
  try {
    if (text === null) window[storage].removeItem(PREFIX + name);
    else window[storage].setItem(PREFIX + name, text);
  } catch {
    // Private windows and full disks: the page works on without.
  }
}

/** Give the names that begin so, without the page's prefix. */
export function keptNames(beginning) {
  try {
    return Object.keys(localStorage)
      .filter((name) => name.startsWith(PREFIX + beginning))
      .map((name) => name.slice(PREFIX.length));
  } catch {
    return [];
  }
}
