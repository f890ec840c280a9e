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

  // the table of all answers: only the rows that are shown are in the page, so that any number stays usable
  const FIRST = 50;
  const MORE = 200;
  const compareText = new Intl.Collator("zh", { numeric: true }).compare;

  class AnswerTable {
    constructor(table) {
      this.table = table;
      this.body = table.tBodies[0];
      this.form = table.closest(".scroll").previousElementSibling;
      this.rows = [...this.body.rows];
      this.order = this.rows.map((_, index) => index);
      this.limit = FIRST;
      this.texts = [];
      this.columns = new Map();
      this.sorted = null;
      table.classList.add("ready");
      this.addButtons();
      this.form.hidden = false;
      this.form.addEventListener("input", (event) => {
        if (event.target.name === "task") this.offerScores();
        this.show(FIRST);
      });
      this.form.addEventListener("submit", (event) => event.preventDefault());
      this.form.elements.more.addEventListener("click", () => this.show(this.limit + MORE));
      this.show(FIRST);
    }

    addButtons() {
      for (const head of all("th", this.table)) {
        const button = document.createElement("button");
        button.type = "button";
        button.append(...head.childNodes);
        button.addEventListener("click", () => this.sort(head));
        head.append(button);
      }
    }

    // the values of a column: numbers, or the places of its texts among all of them; "" where there is none
    column(index) {
      if (!this.columns.has(index)) {
        const texts = this.rows.map((row) => row.cells[index].textContent);
        const different = [...new Set(texts)];
        const places = new Map(different.sort(compareText).map((text, place) => [text, place]));
        const isNumeric = different.every((text) => !isNaN(text));
        const value = (text) => (text === "" ? "" : isNumeric ? Number(text) : places.get(text));
        this.columns.set(index, texts.map(value));
      }
      return this.columns.get(index);
    }

    text(index) {
      this.texts[index] ??= this.rows[index].textContent.toLowerCase();
      return this.texts[index];
    }

    sort(head) {
      const isRising = head.getAttribute("aria-sort") !== "ascending";
      for (const other of all("th", this.table)) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", isRising ? "ascending" : "descending");
      const values = this.column(head.cellIndex);
      const sign = isRising ? 1 : -1;
      const compare = (a, b) => {
        if (a === "" || b === "") return (a === "") - (b === ""); // no value: last, in both directions
        return sign * (a - b);
      };
      this.order.sort((a, b) => compare(values[a], values[b]) || a - b);
      this.show(FIRST);
    }

    // the menu of scores has those that answers to the task have
    offerScores() {
      const { task, score } = this.form.elements;
      if (!task || !score) return;
      for (const option of score.options) {
        const values = this.column(Number(option.value));
        const hasValue = (row, index) => values[index] !== "" && row.dataset.task === task.value;
        option.hidden = option.disabled = task.value !== "" && !this.rows.some(hasValue);
      }
      if (score.selectedOptions[0]?.disabled) {
        score.value = [...score.options].find((option) => !option.disabled)?.value ?? "";
      }
    }

    // the indices of the rows that pass the filters, in order
    passing() {
      const chosen = (name) => this.form.elements[name]?.value ?? "";
      const text = chosen("text").trim().toLowerCase();
      const most = parseFloat(chosen("most"));
      const score = isNaN(most) ? null : this.column(Number(chosen("score")));
      const exact = [["checkpoint", 0], ["status", 2]].filter(([name]) => chosen(name));
      const task = chosen("task");
      return this.order.filter((index) => {
        const row = this.rows[index];
        return (
          exact.every(([name, cell]) => row.cells[cell].textContent === chosen(name)) &&
          (!task || row.dataset.task === task) &&
          (!score || (typeof score[index] === "number" && score[index] <= most)) &&
          (!text || this.text(index).includes(text))
        );
      });
    }

    show(limit) {
      this.limit = limit;
      const passing = this.passing();
      const shown = passing.slice(0, limit).map((index) => this.rows[index]);
      this.body.replaceChildren(...shown);
      const output = this.form.querySelector("output");
      output.textContent = output.dataset.words.replace("{0}", shown.length).replace("{1}", passing.length);
      this.form.elements.more.hidden = shown.length === passing.length;
    }

    // only the answers behind a number, sorted by its score if it has a column
    only({ checkpoint, task, score, status }) {
      this.form.reset();
      for (const [name, value] of Object.entries({ checkpoint, task, status })) {
        if (this.form.elements[name]) this.form.elements[name].value = value;
      }
      this.offerScores();
      const head = all("th", this.table).find((other) => other.textContent === score);
      head?.removeAttribute("aria-sort");
      if (head) this.sort(head);
      else this.show(FIRST);
    }

    // show a row to which a link leads, and everything before it if it passes the filters
    find(id) {
      const index = this.rows.findIndex((row) => row.id === id);
      if (index < 0) return null;
      let place = this.passing().indexOf(index);
      if (place < 0) {
        this.form.reset();
        this.offerScores();
        place = this.order.indexOf(index);
      }
      this.show(Math.max(this.limit, place + 1));
      for (const details of all("details", this.rows[index])) details.open = true;
      return this.rows[index];
    }
  }

  const tables = all("table.answers").map((table) => new AnswerTable(table));

  // a link to something folded opens it
  const reveal = () => {
    let id = location.hash.slice(1);
    try {
      id = decodeURIComponent(id);
    } catch {
      // a name that is no encoding is meant as it stands
    }
    if (!id) return;
    const found = tables.map((table) => table.find(id)).find((row) => row) ?? document.getElementById(id);
    for (let element = found; element; element = element.parentElement) {
      if (element.tagName === "DETAILS") element.open = true;
    }
    if (found) found.scrollIntoView();
  };
  addEventListener("hashchange", reveal);
  document.addEventListener("click", (event) => {
    const link = event.target.closest?.("a[href^='#']");
    if (link?.dataset.task) for (const table of tables) table.only(link.dataset);
    if (link && link.hash === location.hash) reveal(); // the same link again, after the reader folded its target
  });
  reveal();

  // on paper all answers are there, and those that are compared are unfolded
  let folded = [];
  addEventListener("beforeprint", () => {
    for (const table of tables) table.show(Infinity);
    folded = all("details.change:not([open]), .answers details:not([open])");
    for (const details of folded) details.open = true;
  });
  addEventListener("afterprint", () => {
    for (const details of folded) details.open = false;
    for (const table of tables) table.show(FIRST);
  });
})();
