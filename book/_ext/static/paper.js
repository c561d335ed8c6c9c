// On paper the page is light, whatever the screen shows, and no code is folded.
(() => {
  "use strict";
  const { dataset } = document.documentElement;
  let shown = "";
  let folded = [];
  addEventListener("beforeprint", () => {
    shown = dataset.theme;
    dataset.theme = "light";
    folded = [...document.querySelectorAll(".cell details:not([open], .mystangle-replaced)")];
    for (const each of folded) each.open = true;
  });
  addEventListener("afterprint", () => {
    dataset.theme = shown;
    for (const each of folded) each.open = false;
  });
})();
