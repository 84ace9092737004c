/** What can be done with the rows that are selected in the table. */

import { labelRows } from "../actions.js";
import { FEWEST_COMPARED, MOST_COMPARED, openCompare } from "../compare.js";
import { button } from "../dom.js";
import { openAlike } from "../more_like.js";
import { askName } from "../naming.js";
import { counted, whole } from "../words.js";

/**
 * The buttons for a selection.
 * @param {Set<number>} selected
 * @param {number} total how many rows there are to select
 * @param {{onAll: () => void, onClear: () => void, onLabelled: () => void}} listeners
 */
export function selectionTools(selected, total, { onAll, onClear, onLabelled }) {
  const number = selected.size;
  const isEmpty = number === 0;
  const rows = () => [...selected];
  const name = async () => {
    const label = await askName({ title: `Label ${counted(number, "row")}`, words: "Rows that have a label already get this one. A single undo reverses this." });
    if (label === null) return;
    const given = rows();
    onClear();
    await labelRows(given, label);
    onLabelled();
  };
  return [
    button("Label …", () => void name(), { class: "small primary", disabled: isEmpty, "data-testid": "table-label" }),
    button("More like these", () => void openAlike(rows()), { class: "small", disabled: isEmpty, "data-testid": "table-alike" }),
    button(number > MOST_COMPARED ? `Compare the first ${MOST_COMPARED}` : "Compare", () => void openCompare(rows()), { class: "small", disabled: number < FEWEST_COMPARED, "data-testid": "table-compare" }),
    button(`Select all ${whole(total)}`, onAll, { class: "small quiet", disabled: total === 0, "data-testid": "table-all" }),
    button("Clear the selection", onClear, { class: "small quiet", disabled: isEmpty, "data-testid": "table-clear" }),
  ];
}
