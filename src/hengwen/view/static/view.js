
// The live parts of hengwen view: forms that answer at once, keys, news of what runs. Without this script, all of
// it is a form or a link.
(() => {
  let asked = 0;

  // draw the same page again, fetched from an address: only the part that is live is replaced
  const replace = async (address, keep) => {
    const number = ++asked;
    const response = await fetch(address, { headers: { Accept: "text/html" } });
    const text = await response.text();
    if (number !== asked) return; // another step was taken meanwhile
    const page = new DOMParser().parseFromString(text, "text/html");
    const live = document.getElementById("live");
    const fresh = page.getElementById("live");
    if (!live || !fresh) {
      location.assign(address);
      return;
    }
    live.replaceWith(fresh);
    if (!keep) history.replaceState(null, "", address);
    document.title = page.title;
    for (const range of document.querySelectorAll("input[type=range]")) {
      const other = page.querySelector(`input[name="${range.name}"]`);
      if (other) range.setAttribute("aria-valuetext", other.getAttribute("aria-valuetext"));
    }
    if (response.headers.has("Refresh")) setTimeout(() => number === asked && replace(address, true), 1000);
  };

  const addressOf = (form) => {
    const values = new URLSearchParams();
    for (const [name, value] of new FormData(form)) if (value !== "") values.append(name, value);
    return `${form.getAttribute("action")}?${values}`;
  };

  document.documentElement.classList.add("live");
  for (const form of document.querySelectorAll("form[data-live]")) {
    let waiting;
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      replace(addressOf(form));
    });
    form.addEventListener("input", (event) => {
      clearTimeout(waiting);
      waiting = setTimeout(() => replace(addressOf(form)), event.target.type === "search" ? 250 : 0);
    });
  }

  // ← → move the slider, or to the prompt before and after; ↑ ↓ move between rows
  document.addEventListener("keydown", (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    if (event.target.matches("input, select, textarea")) return;
    const slider = document.querySelector("input[data-keys]");
    if (slider && (event.key === "ArrowLeft" || event.key === "ArrowRight")) {
      event.preventDefault();
      if (event.key === "ArrowLeft") slider.stepDown();
      else slider.stepUp();
      replace(addressOf(slider.form));
    }
    const beside = { ArrowLeft: "prev", ArrowRight: "next" }[event.key];
    if (beside) document.querySelector(`a[rel=${beside}]`)?.click();
    const rows = [...document.querySelectorAll("#live tbody th a")];
    if (slider && rows.length && (event.key === "ArrowUp" || event.key === "ArrowDown")) {
      event.preventDefault();
      const index = rows.indexOf(document.activeElement) + (event.key === "ArrowDown" ? 1 : -1);
      rows[Math.min(Math.max(index, 0), rows.length - 1)].focus();
    }
  });

  // news of the runs: the server says that something changed since the page was drawn, the page is drawn again
  let news;
  const listen = () => {
    const listening = document.querySelector("[data-news]");
    if (!listening) return;
    news = new EventSource(listening.dataset.news);
    news.addEventListener("message", () => replace(location.href, true));
  };
  addEventListener("pageshow", listen); // also when the browser comes back to a page that it kept
  addEventListener("pagehide", () => news?.close());
})();
