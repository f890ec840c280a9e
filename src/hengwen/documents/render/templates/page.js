"use strict";
// What a page does beyond reading: without this script all of it can be read. Nothing is sent or loaded.
(() => {
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];
  const root = document.documentElement;

  // light or dark: the choice of the system until a reader chooses
  const isDark = () =>
    root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  for (const button of all("[data-theme-switch]")) {
    button.hidden = false;
    button.addEventListener("click", () => {
      root.dataset.theme = isDark() ? "light" : "dark";
    });
  }

  // a link to something folded opens it
  const reveal = () => {
    const target = location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!target) return;
    for (let element = target; element; element = element.parentElement) {
      if (element.tagName === "DETAILS") element.open = true;
    }
    target.scrollIntoView();
  };
  addEventListener("hashchange", reveal);
  reveal();
})();
