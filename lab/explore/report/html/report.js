"use strict";
(() => {
  const root = document.documentElement;
  root.classList.add("js");
  const all = (selector, from = document) => [...from.querySelectorAll(selector)];

  // Every text that both languages have carries the other one in data-x.
  document.getElementById("language").addEventListener("click", () => {
    for (const e of all("[data-x]")) [e.textContent, e.dataset.x] = [e.dataset.x, e.textContent];
    for (const e of all("[data-x-copied]")) [e.dataset.copied, e.dataset.xCopied] = [e.dataset.xCopied, e.dataset.copied];
    for (const image of all("img[data-x-src]")) {
      [image.src, image.dataset.xSrc] = [image.dataset.xSrc, image.src];
      [image.alt, image.dataset.xAlt] = [image.dataset.xAlt, image.alt];
      image.closest("figure").querySelector("a").href = image.src;
    }
    const button = document.getElementById("language");
    const label = button.getAttribute("aria-label");
    button.setAttribute("aria-label", button.dataset.xLabel);
    button.dataset.xLabel = label;
    [root.lang, root.dataset.other] = [root.dataset.other, root.lang];
    button.lang = root.dataset.other;
    show(chosen);
  });

  document.getElementById("theme").addEventListener("click", () => {
    const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
  });

  // A link to a finding opens it.
  const open = () => {
    const target = location.hash.length > 1 && document.getElementById(location.hash.slice(1));
    if (!target || target.tagName !== "DETAILS") return;
    target.open = true;
    target.scrollIntoView();
    target.querySelector("summary").focus({ preventScroll: true });
  };
  addEventListener("hashchange", open);
  for (const link of all(".matrix a")) link.addEventListener("click", () => setTimeout(open));
  open();

  const copied = async (text) => {
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      const area = document.createElement("textarea");
      area.value = text;
      document.body.append(area);
      area.select();
      const done = document.execCommand("copy");
      area.remove();
      return done;
    }
    return true;
  };
  for (const button of all(".copy")) {
    button.addEventListener("click", async () => {
      if (!(await copied(button.parentElement.querySelector("code").textContent))) return;
      const text = button.firstElementChild ?? button;
      const before = text.textContent;
      if (before === button.dataset.copied) return;
      text.textContent = button.dataset.copied;
      setTimeout(() => { if (text.textContent === button.dataset.copied) text.textContent = before; }, 1500);
      button.focus();
    });
  }

  // The matrix: a line says what a cell is, and the arrow keys move.
  const table = document.querySelector(".matrix");
  const line = document.getElementById("cell");
  const rows = all("tbody tr", table);
  let chosen = null;
  const cellAt = (row, column) => rows[row]?.cells[column];
  const target = (cell) => cell.querySelector("a") ?? cell;
  const show = (cell) => {
    if (!cell) return;
    chosen = cell;
    line.classList.add("on");
    const words = (e) => e.textContent.replace(/\s+/g, " ").trim();
    const head = table.tHead.rows[0].cells[cell.cellIndex];
    line.textContent = [words(cell.parentElement.cells[0]), words(head), words(cell.querySelector(".sr"))].join(" · ");
  };
  for (const cell of all("tbody td", table)) target(cell).tabIndex = -1;
  const links = all("tbody a", table);
  for (const link of links) link.tabIndex = 0;
  if (links.length === 0 && cellAt(0, 1)) target(cellAt(0, 1)).tabIndex = 0;
  for (const event of ["pointerover", "focusin", "click"]) {
    table.addEventListener(event, (e) => show(e.target.closest("td")));
  }
  table.addEventListener("keydown", (e) => {
    const cell = e.target.closest("td");
    const step = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] }[e.key];
    if (!cell || !step) return;
    e.preventDefault();
    const next = cellAt(rows.indexOf(cell.parentElement) + step[0], cell.cellIndex + step[1]);
    if (next?.tagName === "TD") target(next).focus();
  });
})();
