/** Rows in a box that was drawn on the map: labelled together, compared, or the start of a search for more. */

import { labelRows } from "../actions.js";
import { FEWEST_COMPARED, MOST_COMPARED, openCompare } from "../compare.js";
import { button, element } from "../dom.js";
import { thumbnail } from "../media.js";
import { openAlike } from "../more_like.js";
import { askName } from "../naming.js";
import { counted, worded } from "../words.js";

/**
 * Ask what is to be done with the rows in a box.
 * @param {number[]} rows
 */
export async function nameBoxed(rows) {
  const thumbs = element("div", { class: "thumb-row" }, ...rows.slice(0, 24).map((row) => thumbnail(row)));
  // Escape closes the dialog beneath, which then labels nothing.
  /** @type {(act: (rows: number[]) => Promise<void>) => () => void} */
  const instead = (act) => () => {
    thumbs.closest("dialog")?.close();
    void act(rows);
  };
  const others = element("div", { class: "line" },
    button("More like these", instead(openAlike), { class: "small", "data-testid": "box-alike" }),
    rows.length >= FEWEST_COMPARED && button(rows.length > MOST_COMPARED ? `Compare the first ${MOST_COMPARED}` : "Compare", instead(openCompare), { class: "small", "data-testid": "box-compare" }));
  const name = await askName({ title: `Label ${counted(rows.length, "row")}`, words: worded(`The unlabelled row${rows.length > 1 ? "s" : ""} in the box${rows.length > 24 ? ", the first 24 shown" : ""}. A single undo reverses this.`), extra: [thumbs, others] });
  if (name !== null) await labelRows(rows, name);
}
