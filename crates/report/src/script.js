"use strict";
// Sorts tables by a column, and copies the list of names. Without a script, the page only lacks the buttons.
for (const table of document.querySelectorAll("table.sortable")) {
  const body = table.tBodies[0];
  const heads = [...table.tHead.rows[0].cells];
  const key = (row, at) => row.cells[at].textContent.trim();
  const compare = (a, b) => {
    const [x, y] = [parseFloat(a), parseFloat(b)];
    if (isNaN(x) || isNaN(y)) return isNaN(x) - isNaN(y) || a.localeCompare(b);
    return x - y;
  };
  heads.forEach((head, at) => {
    if (!head.textContent.trim() || body.rows.length < 2) return;
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const up = head.getAttribute("aria-sort") !== "ascending";
      heads.forEach(other => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", up ? "ascending" : "descending");
      const rows = [...body.rows].sort((a, b) => compare(key(a, at), key(b, at)));
      body.append(...(up ? rows : rows.reverse()));
    });
  });
}
for (const area of document.querySelectorAll("textarea")) {
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = "Copy";
  button.addEventListener("click", () => {
    area.select();
    document.execCommand("copy");
    button.textContent = "Copied";
  });
  area.after(button);
}
