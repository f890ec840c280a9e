
// One key is one click: elements name their keys in data-key. A form is sent once.
addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.repeat || event.isComposing) return;
  if (event.target.closest("input, textarea, select")) return;
  const key = event.key.normalize("NFKC").toLowerCase();
  const target = key.trim() && document.querySelector(`[data-key~="${CSS.escape(key)}"]:not(:disabled)`);
  if (!target) return;
  event.preventDefault();
  target.click();
});
for (const form of document.querySelectorAll("form[method=post]")) {
  let sent = false;
  form.addEventListener("submit", (event) => {
    if (sent) event.preventDefault();
    sent = true;
  });
}
// a page that the back button shows again can be sent again
addEventListener("pageshow", (event) => event.persisted && location.reload());
