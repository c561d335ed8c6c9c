// Show the text of a chunk below the line that refers to it.
(() => {
  "use strict";
  const insets = new WeakMap();
  let count = 0;

  const makeInset = (button) => {
    const { text, name, indent } = button.dataset;
    const inset = document.createElement("span");
    inset.id = `mystangle-inset-${++count}`;
    inset.className = "mystangle-inset";
    inset.setAttribute("role", "group");
    inset.setAttribute("aria-label", name);
    inset.style.marginInlineStart = `${indent}ch`;
    inset.append(document.getElementById(text).content.cloneNode(true));
    button.closest(".mystangle-row").after(inset);
    button.setAttribute("aria-controls", inset.id);
    insets.set(button, inset);
    return inset;
  };

  document.addEventListener("click", (event) => {
    const button = event.target.closest("button.mystangle-expand");
    if (!button) return;
    const open = button.getAttribute("aria-expanded") !== "true";
    const inset = insets.get(button) ?? makeInset(button);
    inset.hidden = !open;
    button.setAttribute("aria-expanded", String(open));
  });

  // The buttons are shown only now: without this script they could do nothing.
  document.documentElement.classList.add("mystangle-live");
})();
