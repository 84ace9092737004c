/** Creating elements. Labels and ids are data: they only ever become text, never markup. */

const SVG = "http://www.w3.org/2000/svg";

/** @typedef {Node|string|number|null|undefined|false} Child */
/** @typedef {Child|Child[]} Children */
/** @typedef {{[K in keyof HTMLElementEventMap]?: (event: HTMLElementEventMap[K]) => void}} Listeners */
/** @typedef {Object<string, string|null|undefined|false>} Data */
/**
 * `on` holds listeners, `data` data attributes, all others are attributes; `false`, `null` and `undefined` leave an
 * attribute out.
 * @typedef {{on?: Listeners, data?: Data, [attribute: string]: string|number|boolean|null|undefined|Listeners|Data}} Properties
 */

/**
 * Create an element.
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} tag
 * @param {Properties} [properties]
 * @param {...Children} children strings become text nodes
 * @returns {HTMLElementTagNameMap[K]}
 */
export function element(tag, properties = {}, ...children) {
  return filled(document.createElement(tag), properties, children);
}

/**
 * Create an SVG element.
 * @template {keyof SVGElementTagNameMap} K
 * @param {K} tag
 * @param {Properties} [properties]
 * @param {...Children} children
 * @returns {SVGElementTagNameMap[K]}
 */
export function drawn(tag, properties = {}, ...children) {
  return filled(document.createElementNS(SVG, tag), properties, children);
}

/**
 * Give the element with this id, created by index.html or by a view.
 * @overload
 * @param {string} id
 * @returns {HTMLElement}
 */
/**
 * Give the element with this id and of this class.
 * @template {HTMLElement} T
 * @overload
 * @param {string} id
 * @param {new () => T} kind
 * @returns {T}
 */
/**
 * @param {string} id
 * @param {new () => HTMLElement} kind
 */
export function byId(id, kind = HTMLElement) {
  const node = document.getElementById(id);
  if (!(node instanceof kind)) throw new TypeError(`No ${kind.name} has the id ${id}`);
  return node;
}

/**
 * Give the first element inside another that matches a selector and must be there.
 * @param {ParentNode} parent
 * @param {string} selector
 * @returns {HTMLElement}
 */
export function within(parent, selector) {
  const node = parent.querySelector(selector);
  if (!(node instanceof HTMLElement)) throw new TypeError(`Nothing matches ${selector}`);
  return node;
}

/**
 * Replace the children of an element; nothing and `false` are left out.
 * @template {Element} T
 * @param {T} parent
 * @param {...Children} children
 * @returns {T}
 */
export function fill(parent, ...children) {
  parent.replaceChildren(...nodes(children));
  return parent;
}

/**
 * Rebuild a part of the page and keep the focus on the control at the same position.
 * @param {HTMLElement} parent
 * @param {() => void} rebuild
 */
export function keepingFocus(parent, rebuild) {
  const focused = focusedElement();
  const kind = focused && parent.contains(focused) ? focused.dataset.testid : undefined;
  const alike = () => /** @type {HTMLElement[]} */ ([...parent.querySelectorAll(`[data-testid="${kind}"]`)]);
  const index = focused && kind ? alike().indexOf(focused) : -1;
  rebuild();
  if (index < 0 || focused?.isConnected) return;
  const now = alike();
  (now[Math.min(index, now.length - 1)] ?? parent).focus({ preventScroll: true });
}

/** Give the element that has the focus; null where it is none that could get it back. */
export function focusedElement() {
  return document.activeElement instanceof HTMLElement ? document.activeElement : null;
}

/**
 * Set an element's text only where it differs, so that a live region is not announced twice.
 * @param {Element} node
 * @param {string} text
 */
export function say(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

/**
 * Create a button.
 * @param {Children} content
 * @param {(event: MouseEvent) => void} onClick
 * @param {Properties} [properties]
 */
export function button(content, onClick, properties = {}) {
  const on = { click: onClick, ...(properties.on ?? {}) };
  return element("button", { type: "button", ...properties, on }, content);
}

/**
 * @template {HTMLElement|SVGElement} T
 * @param {T} node
 * @param {Properties} properties
 * @param {Children[]} children
 * @returns {T}
 */
function filled(node, properties, children) {
  const { on = {}, data = {}, ...attributes } = properties;
  for (const [event, listener] of Object.entries(on)) node.addEventListener(event, /** @type {EventListener} */ (listener));
  for (const [name, value] of Object.entries(data)) if (isSomething(value)) node.dataset[name] = value;
  for (const [name, value] of Object.entries(attributes)) {
    if (isSomething(value)) node.setAttribute(name, value === true ? "" : String(value));
  }
  node.append(...nodes(children));
  return node;
}

/** @param {Children[]} children */
function nodes(children) {
  return children.flat().filter(isSomething).map((child) => (child instanceof Node ? child : document.createTextNode(String(child))));
}

/**
 * @template T
 * @param {T|null|undefined|false} value
 * @returns {value is T}
 */
function isSomething(value) {
  return value !== null && value !== undefined && value !== false;
}
