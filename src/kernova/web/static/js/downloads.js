/** What can be downloaded and imported: links to the usual files, and a dialog with all of them. */

import { get, messageOf } from "./api.js";
import { openDialog } from "./dialogs.js";
import { button, element, fill } from "./dom.js";
import { openImport } from "./import_labels.js";

/** @typedef {import("./types.js").FormatOffered} FormatOffered */

/**
 * A link to a file.
 * @param {string} name
 * @param {string} words
 */
function fileLink(name, words) {
  return element("a", { class: "button", href: `/api/downloads/${name}`, download: name, "data-testid": `download-${name}` }, words);
}

/** Links to the labels, the report and, once there is one, the model; everything else is a step further. */
export function downloadLinks({ hasModel = false } = {}) {
  return element("p", { class: "line downloads" },
    fileLink("labels.csv", "Labels as CSV"), fileLink("labels.parquet", "Labels as Parquet"), fileLink("report.html", "Download the report"),
    hasModel && fileLink("model.kernova", "Model for kernova recognize"),
    button("More formats …", () => void openDownloads(), { "data-testid": "more-formats" }),
    button("Import labels …", openImport, { "data-testid": "import-labels" }));
}

/** Show all files that can be downloaded, and the way to import one. */
export async function openDownloads() {
  const list = element("ul", { class: "format-list", "data-testid": "format-list" });
  const dialog = openDialog("Download and import", [
    element("h3", {}, "Report"),
    element("p", { class: "hint" }, "One page to print or to send: what was asked, found and labelled, by whom, with examples of each category."),
    element("p", { class: "line" }, fileLink("report.html", "Download the report")),
    element("h3", {}, "Labels"),
    list,
    element("h3", {}, "Import"),
    element("p", { class: "hint" }, "Labels from a table, Label Studio or another project; nothing is changed before you have seen what the file holds."),
    element("p", { class: "line" }, button("Import labels …", () => {
      dialog.close();
      openImport();
    }, { "data-testid": "import-labels" })),
  ], { testid: "downloads-dialog" });
  try {
    const { formats } = await get("/api/downloads");
    fill(list, ...formats.map(formatItem));
  } catch (error) {
    dialog.say(messageOf(error));
  }
}

/** @param {FormatOffered} format */
function formatItem({ title, file, reason_against: reason }) {
  if (reason === null) return element("li", {}, fileLink(file, title));
  return element("li", { class: "hint" }, element("b", {}, title), element("small", {}, reason));
}
