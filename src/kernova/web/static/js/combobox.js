/** A field for a name, with the existing names to choose from; what is typed is never replaced automatically. */

import { element, fill } from "./dom.js";
import { glyph } from "./glyph.js";
import { matchingNames } from "./names.js";
import { whole } from "./words.js";

const MOST_OFFERED = 50;
let made = 0;

/**
 * Make a field for a category's name.
 * @param {{label: string, categories: () => import("./types.js").Category[], onChoose: (name: string, isPicked: boolean) => void, value?: string}} options
 *   `onChoose` gets the name at Enter or click, and whether it was picked from the list
 * @returns {{node: HTMLElement, input: HTMLInputElement, value: () => string}}
 */
export function nameField({ label, categories, onChoose, value = "" }) {
  const id = `names-${(made += 1)}`;
  const list = element("ul", { id, role: "listbox", class: "names-list", "aria-label": "Existing categories" });
  const input = element("input", {
    type: "text", role: "combobox", id: `${id}-input`, class: "name-input", value, maxlength: 200,
    autocomplete: "off", autocapitalize: "off", spellcheck: "false", enterkeyhint: "done",
    "aria-expanded": "false", "aria-controls": id, "aria-autocomplete": "list", "data-testid": "name-input",
  });
  let active = -1;
  /** @type {string[]} */
  let names = [];

  const options = () => [...list.children];
  /** @param {number} index */
  const mark = (index) => {
    active = index;
    options().forEach((option, at) => option.setAttribute("aria-selected", String(at === active)));
    const chosen = options()[active];
    chosen?.scrollIntoView({ block: "nearest" });
    if (chosen) input.setAttribute("aria-activedescendant", chosen.id);
    else input.removeAttribute("aria-activedescendant");
  };
  const offer = () => {
    const known = categories();
    names = matchingNames(input.value.trim(), known.map(({ name }) => name)).slice(0, MOST_OFFERED);
    fill(list, names.map((name, index) => {
      const category = known.find((one) => one.name === name);
      const count = element("small", {}, whole(category?.rows ?? 0));
      /** @param {Event} event */
      const choose = (event) => (event.preventDefault(), onChoose(name, true));
      return element("li", { role: "option", id: `${id}-${index}`, "aria-selected": "false", on: { pointerdown: (event) => event.preventDefault(), click: choose } },
        glyph(category?.colour), element("span", {}, name), count);
    }));
    list.hidden = names.length === 0;
    input.setAttribute("aria-expanded", String(names.length > 0));
    mark(-1);
  };
  /** @type {Object<string, number>} */
  const steps = { ArrowDown: 1, ArrowUp: -1 };
  input.addEventListener("input", offer);
  input.addEventListener("keydown", (event) => {
    if (event.isComposing) return;
    if (event.key in steps && names.length > 0) {
      event.preventDefault();
      // From the field down to the first, up to the last, and past either end back into the field.
      mark(((active + 1 + steps[event.key] + names.length + 1) % (names.length + 1)) - 1);
    } else if (event.key === "Enter") {
      event.preventDefault();
      if (event.repeat) return;
      if (active >= 0) onChoose(names[active], true);
      else if (input.value.trim()) onChoose(input.value.trim(), false);
    } else if (event.key === "Escape" && active >= 0) {
      event.preventDefault();
      event.stopPropagation();
      mark(-1);
    }
  });
  offer();
  const node = element("div", { class: "name-field" }, element("label", { for: input.id }, label), input, list);
  return { node, input, value: () => input.value.trim() };
}
