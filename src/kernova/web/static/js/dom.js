/** Making elements. Labels and ids are data: they only ever become text, never markup. */

const SVG = "http://www.w3.org/2000/svg";

/**
 * Make an element.
 * @param {string} tag
 * @param {Object<string, any>} [properties] `on` holds listeners, `data` data attributes, all others are attributes;
 *   `false`, `null` and `undefined` leave an attribute out
 * @param {...(Node|string|number|null|undefined|false)} children texts become text nodes
 * @returns {any}
 */
export function element(tag, properties = {}, ...children) {
  return filled(document.createElement(tag), properties, children);
}

/** Make an element of a drawing. */
export function drawn(tag, properties = {}, ...children) {
  return filled(document.createElementNS(SVG, tag), properties, children);
}

/** Give the element of this id, which index.html or a view has made. */
export function byId(id) {
  return /** @type {any} */ (document.getElementById(id));
}

/** Put these children in place of those an element has; nothing and `false` are left out. */
export function fill(parent, ...children) {
  parent.replaceChildren(...children.flat().filter(isSomething).map(asNode));
  return parent;
}

/**
 * Build a part of the page anew and leave the focus on the button that stands where the focused one stood.
 * @param {HTMLElement} parent
 * @param {() => void} rebuild
 */
export function keepingFocus(parent, rebuild) {
  const focused = /** @type {any} */ (document.activeElement);
  const kind = parent.contains(focused) ? focused.dataset.testid : undefined;
  const alike = () => [...parent.querySelectorAll(`[data-testid="${kind}"]`)];
  const place = kind ? alike().indexOf(focused) : -1;
  rebuild();
  if (place < 0 || focused.isConnected) return;
  const now = alike();
  (now[Math.min(place, now.length - 1)] ?? parent).focus({ preventScroll: true });
}

/** Set an element's text only where it differs, so that a live region does not speak twice. */
export function say(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

/** Make a button. */
export function button(words, onClick, properties = {}) {
  const on = { click: onClick, ...(properties.on ?? {}) };
  return element("button", { type: "button", ...properties, on }, ...[words].flat());
}

function filled(node, properties, children) {
  const { on = {}, data = {}, ...attributes } = properties;
  for (const [event, listener] of Object.entries(on)) node.addEventListener(event, listener);
  for (const [name, value] of Object.entries(data)) if (isSomething(value)) node.dataset[name] = value;
  for (const [name, value] of Object.entries(attributes)) {
    if (isSomething(value)) node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.flat().filter(isSomething).map(asNode));
  return node;
}

const isSomething = (value) => value !== null && value !== undefined && value !== false;
const asNode = (child) => (child instanceof Node ? child : document.createTextNode(String(child)));
