// Step through a small graph: forward node by node, then back with the gradients.
// Without this script the whole picture is shown; with it, too, until a button is used.
(() => {
  "use strict";
  const MOST = 20; // nodes
  const TERMS = 3; // of a sum, in words
  const ROUNDED = 0.006; // of a product of a slope of 3 digits and a gradient of 6
  const EXACT = 1e-12;
  const BUTTONS = [
    ["First step", "M7 3v10M14 3L8 8l6 5z"],
    ["Step back", "M12 3L6 8l6 5z"],
    ["Step forward", "M5 3l6 5-6 5z"],
    ["Last step", "M10 3v10M3 3l6 5-6 5z"],
  ];

  const signed = (number) => (number.startsWith("-") ? `(${number})` : number);

  const icon = (path) =>
    `<svg viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">` +
    `<path d="${path}" fill="currentColor" stroke="currentColor"/></svg>`;

  const equip = (picture) => {
    const nodes = [...picture.querySelectorAll("g[data-step]")];
    const fact = (node, line) =>
      node.querySelectorAll("text")[line]?.textContent.replace(/^\w+ /, "");
    const size = nodes.length;
    if (size > MOST) return;
    // A root whose gradient is 0 has seen no backward pass: there is none to show.
    const back = Number(fact(nodes[size - 1], 2) ?? 0) !== 0;
    const steps = back ? 2 * size : size;
    const parts = [...picture.querySelectorAll("[data-step]")];
    const slopes = [...picture.querySelectorAll("text[data-from]")];

    // The products that backward added up to a gradient, in its order, where they do:
    // leaves keep what earlier passes gave, and the picture's numbers are rounded.
    const sum = (step) => {
      const gradient = fact(nodes[step - 1], 2);
      const terms = slopes
        .filter((slope) => Number(slope.dataset.from) === step)
        .map((slope) => [slope.textContent, fact(nodes[slope.dataset.step - 1], 2)]);
      const products = terms.map(([slope, grad]) => slope * grad);
      const size = products.reduce((all, each) => all + Math.abs(each), 0);
      const apart = Math.abs(products.reduce((all, each) => all + each, 0) - gradient);
      if (!terms.length || !(apart <= ROUNDED * size)) return `= ${gradient}`;
      const said = terms.slice(0, TERMS).map((pair) => pair.map(signed).join(" · "));
      if (terms.length > TERMS) said.push(`… (${terms.length} products)`);
      return `= ${said.join(" + ")} ${apart <= EXACT * size ? "=" : "≈"} ${gradient}`;
    };
    let now = 0; // 0: the whole picture, at rest

    const row = document.createElement("div");
    row.className = "graph-steps";
    row.setAttribute("role", "group");
    row.setAttribute("aria-label", "Step through the graph");
    const said = document.createElement("p");
    said.setAttribute("aria-live", "polite");

    const show = (step) => {
      now = step;
      const forward = step <= size;
      const place = forward ? step : steps + 1 - step; // of the node to look at
      for (const part of parts) {
        part.classList.toggle("graph-waits", forward && step > 0 && part.dataset.step > step);
      }
      nodes.forEach((node, i) => {
        node.classList.toggle("graph-now", i + 1 === place);
        const gradient = node.querySelectorAll("text")[2];
        gradient?.classList.toggle("graph-waits", step > 0 && (forward || i + 1 < place));
      });
      const node = nodes[place - 1];
      if (!step) {
        said.textContent = `the whole graph: ${steps} steps`;
        return;
      }
      const [pass, value] = forward
        ? ["forward, ", `= ${fact(node, 1)}`]
        : ["backward, gradient of ", sum(place)];
      said.textContent = `step ${step} of ${steps}: ${pass}${node.dataset.name} ${value}`;
      // On a phone the picture scrolls by itself: keep the node in sight.
      const box = node.getBoundingClientRect();
      const frame = picture.parentElement;
      const view = frame.getBoundingClientRect();
      frame.scrollLeft += (box.left + box.right - view.left - view.right) / 2;
    };

    const to = [
      () => 1,
      () => (now + steps) % (steps + 1),
      () => (now + 1) % (steps + 1),
      () => steps,
    ];
    BUTTONS.forEach(([name, path], i) => {
      const button = document.createElement("button");
      button.type = "button";
      button.title = name;
      button.setAttribute("aria-label", name);
      button.innerHTML = icon(path);
      button.addEventListener("click", () => show(to[i]()));
      row.append(button);
    });
    row.append(said);
    show(0);
    (picture.closest(".output") ?? picture).after(row);
  };

  document.querySelectorAll("svg.graph").forEach(equip);
})();
