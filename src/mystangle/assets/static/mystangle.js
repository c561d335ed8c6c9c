// Show the text of a chunk below the line that refers to it.
(() => {
  "use strict";
  const insets = new WeakMap();
  let count = 0;

  // The code of one piece: from its figure on this page, or kept from another page.
  const codeOf = (id) => {
    const source = document.getElementById(id);
    const code = new DocumentFragment();
    const found = source.content ?? source.querySelector("pre");
    code.append(...found.cloneNode(true).childNodes);
    code.querySelectorAll(".mystangle-inset").forEach((inset) => inset.remove());
    code.querySelectorAll(".mystangle-expand").forEach((button) => {
      button.setAttribute("aria-expanded", "false");
      button.removeAttribute("aria-controls");
    });
    return code;
  };

  const makeInset = (button) => {
    const { from, indent } = button.dataset;
    const name = button.previousElementSibling.textContent;
    const inset = document.createElement("span");
    inset.id = `mystangle-inset-${++count}`;
    inset.className = "mystangle-inset";
    inset.setAttribute("role", "group");
    inset.setAttribute("aria-label", name.replace(/^# <<|>>$/g, ""));
    inset.style.setProperty("--mystangle-indent", `${indent}ch`);
    inset.append(...from.split(" ").map(codeOf));
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
