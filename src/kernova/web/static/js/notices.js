/** Messages to the expert: what was saved, what could not be, and what is announced to screen readers. */

import { logIn, messageOf } from "./api.js";
import { button, byId, element, fill, say } from "./dom.js";
import { onOutbox, outbox, tryAgain } from "./outbox.js";
import { listen, refresh, store } from "./store.js";

/**
 * Show what was saved; it stays until something else is.
 * @param {string} words
 * @param {string|null} warning where it is, if the project is no longer in its place
 */
export function showSaved(words, warning) {
  const line = byId("saved");
  line.classList.toggle("failed", warning !== null);
  fill(line, warning === null ? words : `${words.replace("Saved", "Saved in a rescue file")} ${warning}`);
}

/**
 * Show why something was not done, in the server's own sentence.
 * @param {unknown} error
 * @param {string} failed
 */
export function showFailed(error, failed = "Not saved") {
  const line = byId("saved");
  line.classList.add("failed");
  fill(line, `${failed}: ${messageOf(error)}`);
}

/**
 * Announce something to screen readers.
 * @param {string} words
 */
export function announce(words) {
  say(byId("announcer"), words);
}

/** Keep the line about what is not saved yet up to date. */
export function startNotices() {
  onOutbox(showTrouble);
  listen(["lost"], showTrouble);
}

function showTrouble() {
  const words = troubleWords();
  const box = byId("trouble");
  box.hidden = !words;
  document.body.dataset.pending = String(outbox.waiting);
  if (!words) return void fill(box);
  if (box.firstChild?.textContent === words) return;
  const login = isLoggedOut() && loginForm();
  const again = outbox.attempt > 0 && button("Retry now", tryAgain, { class: "small", "data-testid": "try-again" });
  fill(box, element("span", {}, words), again, login);
}

/** Give a field for the token: the page stays as it is, and what was not saved is sent. */
function loginForm() {
  const field = element("input", { type: "password", name: "token", "aria-label": "Token", placeholder: "Token", autocomplete: "current-password", required: true, "data-testid": "login-token" });
  const problem = element("span", { role: "status", "data-testid": "login-problem" });
  /** @param {SubmitEvent} event */
  async function submit(event) {
    event.preventDefault();
    try {
      await logIn(field.value);
    } catch (error) {
      return say(problem, messageOf(error));
    }
    tryAgain();
    await refresh();
  }
  return element("form", { class: "line", on: { submit }, "data-testid": "login-form" }, field, element("button", { type: "submit", class: "small" }, "Log in"), problem);
}

/** Whether the server does not know this browser: it was started anew, or forgot old logins. */
function isLoggedOut() {
  return outbox.isSignedOut || store.lost === "signed-out";
}

function troubleWords() {
  const way = isLoggedOut()
    ? "This page is no longer logged in. Press Enter in the terminal that runs kernova and open the link in this browser, or enter the token."
    : "The server is not responding. Is it still running in the terminal?";
  if (outbox.attempt > 0) return `Not saved yet, trying again: ${outbox.words} ${way} Nothing is lost: it is kept in this browser until it is saved.`;
  return store.lost ? way : "";
}
