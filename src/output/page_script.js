"use strict";
// Sorting by a click on a heading and filtering by a word. Without it the page reads the same.
for (const table of document.querySelectorAll("table")) {
  const body = table.tBodies[0];
  const rows = [...body.rows];
  // A table of facts, without a heading over its names, has an order of its own.
  if (rows.length < 2 || table.tHead.rows[0].cells[0].textContent === "") continue;

  const key = (row, column) => {
    const cell = row.cells[column];
    if (cell.dataset.v !== undefined) return Number(cell.dataset.v);
    return cell.classList.contains("n") ? null : cell.textContent.trim();
  };
  const compare = (a, b) => {
    if (typeof a === "number" && typeof b === "number") return a - b;
    return String(a).localeCompare(String(b), "en", {numeric: true});
  };
  const absent = (value) => value === null || value === "";

  [...table.tHead.rows[0].cells].forEach((heading, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.title = "Sort by this column";
    button.append(...heading.childNodes);
    heading.append(button);
    button.addEventListener("click", () => {
      const down = heading.getAttribute("aria-sort") === "ascending";
      for (const other of heading.parentNode.cells) other.removeAttribute("aria-sort");
      heading.setAttribute("aria-sort", down ? "descending" : "ascending");
      const order = rows.map((row, place) => ({row, place, value: key(row, column)}));
      order.sort((a, b) => {
        if (absent(a.value) !== absent(b.value)) return absent(a.value) ? 1 : -1;
        const by = absent(a.value) ? 0 : compare(a.value, b.value);
        return (down ? -by : by) || a.place - b.place;
      });
      body.append(...order.map((entry) => entry.row));
    });
  });

  if (rows.length < 10) continue;
  const line = document.createElement("label");
  line.className = "filter";
  const input = document.createElement("input");
  input.type = "search";
  const shown = document.createElement("span");
  const count = () => {
    shown.textContent = rows.filter((row) => !row.hidden).length + " of " + rows.length + " rows";
  };
  input.addEventListener("input", () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const row of rows) {
      const text = row.textContent.toLowerCase();
      row.hidden = !words.every((word) => text.includes(word));
    }
    count();
  });
  count();
  line.append("Filter", input, shown);
  table.parentNode.before(line);
}
