/** Dialogs: shown over the page, closed by Escape, gone from it afterwards. */

import { button, element, fill, focusedElement } from "./dom.js";

let made = 0;

/**
 * Show a dialog.
 * @param {string} title
 * @param {import("./dom.js").Child[]} content
 * @param {{testid?: string, isWide?: boolean, onClose?: () => void}} [options]
 * @returns {{node: HTMLDialogElement, close: () => void, say: (problem: string) => void}}
 */
export function openDialog(title, content, { testid = "dialog", isWide = false, onClose } = {}) {
  const heading = `dialog-${(made += 1)}`;
  const problem = element("p", { class: "problem", role: "alert" });
  const closer = button("×", () => node.close(), { class: "quiet icon-only closer", "aria-label": "Close", "data-testid": "dialog-close" });
  const node = element("dialog", { class: isWide ? "wide" : null, "aria-labelledby": heading, "data-testid": testid },
    element("header", {}, element("h2", { id: heading }, title), closer), ...content, problem);
  const opener = focusedElement();
  node.addEventListener("close", () => {
    node.remove();
    onClose?.();
    // The control that opened it may be gone, with the list that it was in.
    if (opener?.isConnected && opener !== document.body) opener.focus();
  });
  node.addEventListener("click", (event) => {
    if (event.target === node && !isWithin(node, event)) node.close();
  });
  document.body.append(node);
  node.showModal();
  return { node, close: () => node.close(), say: (words) => fill(problem, words) };
}

/**
 * Ask before something is done.
 * @param {string} title
 * @param {string[]} sentences what it means
 * @param {string} yes words on the button that does it
 * @param {{isGrave?: boolean}} [options]
 * @returns {Promise<boolean>}
 */
export function confirmed(title, sentences, yes, { isGrave = false } = {}) {
  return new Promise((resolve) => {
    let isAgreed = false;
    const agree = () => {
      isAgreed = true;
      dialog.close();
    };
    const choice = button(yes, agree, { class: isGrave ? "grave" : "primary", "data-testid": "confirm-yes" });
    const cancel = button("Cancel", () => dialog.close(), { "data-testid": "confirm-no" });
    const dialog = openDialog(title, [
      ...sentences.map((sentence) => element("p", {}, sentence)),
      element("div", { class: "line ending" }, choice, cancel),
    ], { testid: "confirm", onClose: () => resolve(isAgreed) });
    (isGrave ? cancel : choice).focus();
  });
}

/**
 * @param {Element} node
 * @param {MouseEvent} event
 */
function isWithin(node, { clientX, clientY }) {
  const { left, right, top, bottom } = node.getBoundingClientRect();
  return clientX >= left && clientX <= right && clientY >= top && clientY <= bottom;
}
