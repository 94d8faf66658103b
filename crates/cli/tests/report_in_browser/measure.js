// What is wrong with the page as it is shown: a list of sentences, empty if all is well.
(() => {
  const wrong = [];
  const page = document.scrollingElement;
  const shown = element => element.getClientRects().length > 0 && !element.closest(".unseen, defs, title");
  const named = element => {
    const path = [];
    for (let at = element; at && at.localName !== "main"; at = at.parentElement) {
      path.unshift(at.localName + (at.id ? "#" + at.id : "") +
        (at.getAttribute("class") ? "." + at.getAttribute("class").split(" ").join(".") : ""));
    }
    return path.slice(-4).join(" ") + " “" + element.textContent.trim().slice(0, 30) + "”";
  };
  const ownText = element =>
    [...element.childNodes].some(node => node.nodeType === 3 && node.data.trim()) && element.localName !== "option";

  // The page as a whole.
  if (page.scrollWidth > page.clientWidth) wrong.push(`scrolls sideways: ${page.scrollWidth} of ${page.clientWidth} px`);
  if (document.querySelectorAll("h1").length !== 1) wrong.push("not one h1");
  if (document.documentElement.lang !== "en") wrong.push("no language");
  if (!document.title) wrong.push("no title");
  for (const resource of performance.getEntriesByType("resource")) wrong.push(`loads ${resource.name}`);

  // Colours: [red, green, blue, opacity].
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const colour = text => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = text;
    canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data];
  };
  const light = ([r, g, b]) => {
    const linear = value => (value /= 255) <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
    return 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);
  };
  const contrast = (a, b) => {
    const [dark, bright] = [light(a), light(b)].sort((x, y) => x - y);
    return (bright + 0.05) / (dark + 0.05);
  };
  const behind = (x, y, element) => {
    for (const other of document.elementsFromPoint(x, y)) {
      if (other === element || other.localName === "text" || other.localName === "tspan") continue;
      const style = getComputedStyle(other);
      const isShape = ["path", "rect", "circle", "use"].includes(other.localName);
      const found = isShape ? (style.fill === "none" ? [0, 0, 0, 0] : colour(style.fill)) : colour(style.backgroundColor);
      if (found[3] === 255) return found;
    }
    return colour(getComputedStyle(document.body).backgroundColor);
  };

  // Text: large enough, on the page, readable.
  const texts = [...document.querySelectorAll("main *")].filter(element => ownText(element) && shown(element));
  for (const element of texts) {
    const style = getComputedStyle(element);
    const isDrawn = element instanceof SVGElement;
    const matrix = isDrawn ? element.getScreenCTM() : null;
    const scale = matrix ? Math.min(Math.hypot(matrix.a, matrix.b), Math.hypot(matrix.c, matrix.d)) : 1;
    const size = parseFloat(style.fontSize) * scale;
    if (size < 11) wrong.push(`text of ${size.toFixed(1)} px: ${named(element)}`);
    const range = document.createRange();
    range.selectNodeContents([...element.childNodes].find(node => node.nodeType === 3 && node.data.trim()));
    const isCut = style.textOverflow === "ellipsis";
    const box = (!isCut && range.getClientRects()[0]) || element.getBoundingClientRect();
    if (box.left < -1 || box.right > page.clientWidth + 1) wrong.push(`beyond the page: ${named(element)}`);
    const text = colour(isDrawn ? style.fill : style.color);
    const found = contrast(text, behind(box.left + box.width / 2, box.top + box.height / 2, element));
    if (found < 4.5) wrong.push(`contrast ${found.toFixed(2)}: ${named(element)}`);
  }

  // Tables: whole, and their rows no higher than their text needs.
  for (const table of [...document.querySelectorAll("table")].filter(shown)) {
    const box = table.getBoundingClientRect();
    for (let around = table.parentElement; around; around = around.parentElement) {
      const limits = around.getBoundingClientRect();
      if (box.left < limits.left - 1 || box.right > limits.right + 1) {
        wrong.push(`wider than what it stands in: ${named(table)}`);
        break;
      }
    }
    for (const cell of table.querySelectorAll("td, th")) {
      if (shown(cell) && cell.scrollWidth > cell.clientWidth + 1) wrong.push(`cut: ${named(cell)}`);
    }
    for (const row of table.rows) {
      const high = row.getBoundingClientRect().height;
      const longest = Math.max(...[...row.cells].map(cell => cell.textContent.length));
      if (high > 60 && longest < 30) wrong.push(`a row of ${high.toFixed(0)} px: ${named(row)}`);
    }
  }

  // What a reader needs of a ranking, however narrow the page.
  for (const head of document.querySelectorAll(".ranking thead th")) {
    const isNeeded = ["Rank", "Feature", "Score", "q"].includes(head.textContent.trim());
    if (isNeeded && !shown(head)) wrong.push(`a column that is not shown: ${named(head)}`);
  }

  // Drawings: large enough to read, axes with ticks, no text over another.
  for (const figure of [...document.querySelectorAll("svg[role=img]")].filter(shown)) {
    const box = figure.getBoundingClientRect();
    if (figure.closest(".chart") && (box.width < 160 || box.height < 40)) wrong.push(`a drawing of ${box.width} by ${box.height} px: ${named(figure)}`);
    if (!figure.getAttribute("aria-label")) wrong.push(`a drawing without a name: ${named(figure)}`);
    for (const axis of figure.querySelectorAll(".axis")) {
      const ticks = axis.querySelectorAll(".tick").length;
      const labels = [...axis.querySelectorAll("text:not(.title)")].filter(shown);
      // Categories are as many as they are.
      const isNumeric = labels.some(label => !isNaN(parseFloat(label.textContent)));
      if (isNumeric && labels.length < 4) wrong.push(`an axis with ${ticks} ticks, ${labels.length} labels: ${named(axis)}`);
    }
    const boxes = [...figure.querySelectorAll("text")].filter(shown).map(text => [text, text.getBoundingClientRect()]);
    boxes.forEach(([a, one], at) => boxes.slice(at + 1).forEach(([b, other]) => {
      const across = Math.min(one.right, other.right) - Math.max(one.left, other.left);
      const down = Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top);
      if (across > 0 && down > 2) wrong.push(`${named(a)} over ${named(b)}`);
    }));
  }

  // Nothing from outside, not even named.
  for (const element of document.querySelectorAll("[src], [href], [action], [data], [srcset]")) {
    const address = element.getAttribute("href");
    if (!address || !address.startsWith("#")) wrong.push(`names an address: ${named(element)}`);
  }
  return wrong;
})()
