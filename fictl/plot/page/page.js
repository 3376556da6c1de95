"use strict";
// Everything is written by textContent and by attributes of numbers: no text of a result becomes markup.
(() => {
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  const form = document.querySelector(".filters");

  const key = (row, column) => {
    const cell = row.cells[column];
    return cell.dataset.value === undefined ? cell.textContent : Number(cell.dataset.value);
  };
  // Numbers before texts, whatever the direction: an empty cell is never the best.
  const order = (a, b, sign) => {
    if (typeof a !== typeof b) return typeof a === "number" ? -1 : 1;
    return sign * (typeof a === "number" ? a - b : a.localeCompare(b, undefined, { numeric: true }));
  };
  const sort = (table, column, head) => {
    const sign = head.getAttribute("aria-sort") === "ascending" ? -1 : 1;
    all("th", table).forEach((other) => other.removeAttribute("aria-sort"));
    head.setAttribute("aria-sort", sign > 0 ? "ascending" : "descending");
    const rows = [...table.tBodies[0].rows].map((row) => [key(row, column), row]);
    rows.sort((a, b) => order(a[0], b[0], sign));
    table.tBodies[0].append(...rows.map((pair) => pair[1]));
  };
  for (const table of all("table.data")) {
    all("th", table).forEach((head, column) => {
      const button = document.createElement("button");
      button.textContent = head.textContent;
      button.addEventListener("click", () => sort(table, column, head));
      head.replaceChildren(button);
    });
  }

  const filter = () => {
    const text = form.elements.text.value.toLowerCase();
    const off = {};
    for (const box of all("[data-facet]", form)) {
      if (!box.checked) (off[box.dataset.facet] ??= new Set()).add(box.value);
    }
    const is_off = (element, facet) => off[facet].has(element.dataset[facet]);
    let shown = 0;
    const rows = all("table.data tbody tr");
    for (const row of rows) {
      row.hidden = Object.keys(off).some((facet) => is_off(row, facet)) ||
        !row.textContent.toLowerCase().includes(text);
      shown += !row.hidden;
    }
    for (const mark of all("[data-series]")) {
      const facet = mark.closest("[data-by]")?.dataset.by;
      const hidden = off[facet]?.has(mark.dataset.series);
      mark.setAttribute("visibility", hidden ? "hidden" : "visible");
    }
    form.querySelector("output").textContent = `${shown} of ${rows.length} rows`;
  };

  const scale = () => {
    for (const table of all("table.data")) {
      const least = Number(table.dataset.least) / 2, most = Number(table.dataset.most);
      const place = (value) => form.elements.log.checked
        ? Math.max(0, Math.log(value / least) / Math.log(most / least)) : value / most;
      for (const bar of all(".bar", table)) {
        const [low, at, high] = ["low", "at", "high"].map(
          (name) => (bar.width.baseVal.value * place(Number(bar.dataset[name]))).toFixed(1));
        bar.querySelector("rect").setAttribute("width", at);
        bar.querySelector("path").setAttribute("d", `M${low} 7H${high}M${low} 4V10M${high} 4V10`);
      }
    }
  };

  const tip = document.createElement("div");
  tip.className = "tip";
  tip.setAttribute("role", "tooltip");
  tip.hidden = true;
  document.body.append(tip);
  for (const title of all(".picture title")) {
    title.parentElement.dataset.tip = title.textContent;
    title.remove();
  }
  const show = (event) => {
    const over = event.target.closest("[data-tip]");
    tip.hidden = !over;
    if (!over) return;
    tip.textContent = over.dataset.tip;
    const box = over.getBoundingClientRect(), size = tip.getBoundingClientRect();
    const x = event.clientX || box.left, y = event.clientY || box.bottom;
    tip.style.left = `${Math.max(4, Math.min(x + 12, innerWidth - size.width - 4))}px`;
    tip.style.top = `${y + 16 + size.height > innerHeight ? y - size.height - 8 : y + 16}px`;
  };
  for (const name of ["mousemove", "focusin"]) document.addEventListener(name, show);
  document.addEventListener("keydown", (event) => { if (event.key === "Escape") tip.hidden = true; });

  if (!form) return;
  form.hidden = false;
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("input", () => { filter(); scale(); });
  form.elements.theme.addEventListener("click", () => {
    const root = document.documentElement;
    const dark = (root.dataset.theme || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light"));
    root.dataset.theme = dark === "dark" ? "light" : "dark";
  });
  filter();
})();
