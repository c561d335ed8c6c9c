// On paper the page is light, whatever the screen shows.
(() => {
  "use strict";
  const { dataset } = document.documentElement;
  let shown = "";
  addEventListener("beforeprint", () => {
    shown = dataset.theme;
    dataset.theme = "light";
  });
  addEventListener("afterprint", () => {
    dataset.theme = shown;
  });
})();
