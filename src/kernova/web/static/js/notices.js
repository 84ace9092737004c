/** Words to the expert: what was saved, what could not be, and what is new for those who listen. */

import { Refusal } from "./api.js";
import { button, byId, element, fill, say } from "./dom.js";
import { onOutbox, outbox, tryAgain } from "./outbox.js";
import { listen, store } from "./store.js";

/** Say what was saved; it stays until something else is. */
export function saySaved(words) {
  const line = byId("saved");
  line.classList.remove("refused");
  fill(line, words);
}

/** Say that something was refused, in the server's own sentence. */
export function sayRefused(error, failed = "Not saved") {
  const words = error instanceof Refusal ? error.message : String(error?.message ?? error);
  const line = byId("saved");
  line.classList.add("refused");
  fill(line, `${failed}: ${words}`);
}

/** Tell those who listen rather than look. */
export function announce(words) {
  say(byId("announcer"), words);
}

/** Keep the line about what is not saved yet up to date. */
export function startNotices() {
  onOutbox(showTrouble);
  listen("lost", showTrouble);
}

function showTrouble() {
  const words = troubleWords();
  const box = byId("trouble");
  box.hidden = !words;
  document.body.dataset.pending = String(outbox.waiting);
  if (!words) return void fill(box);
  if (box.firstChild?.textContent === words) return;
  const again = outbox.attempt > 0 && button("Try now", tryAgain, { class: "small", "data-testid": "try-again" });
  fill(box, element("span", {}, words), again);
}

function troubleWords() {
  const isSignedOut = outbox.isSignedOut || store.lost === "signed-out";
  const way = isSignedOut
    ? "This page is no longer signed in: open the address that the terminal shows, in this browser."
    : "The server does not answer. Is it still running in the terminal?";
  if (outbox.attempt > 0) return `Not saved yet, trying again: ${outbox.words} ${way} Nothing is lost: it is kept here until it is saved.`;
  return store.lost ? way : "";
}
