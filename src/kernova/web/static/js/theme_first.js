// Runs before the first paint, so that a page kept dark never flashes light. Not a module: those wait.
try {
  const kept = localStorage.getItem("kernova.theme");
  if (kept === "light" || kept === "dark") document.documentElement.dataset.theme = kept;
} catch {
  // Storage may be forbidden; the system's choice holds then.
}
