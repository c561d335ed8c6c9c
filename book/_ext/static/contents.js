// Mark the section that is read in the page's list of contents, and keep it in view.
(() => {
  "use strict";
  const TOP = 100; // pixels: a little below where a link's target comes to rest
  const list = document.getElementById("page-contents");
  const links = [...(list?.querySelectorAll("a[href^='#']") ?? [])];
  const entries = links
    .map((link) => [link, document.getElementById(decodeURIComponent(link.hash.slice(1)))])
    .filter(([, section]) => section);
  if (!entries.length) return;
  const root = document.documentElement;
  const place = (section) => section.getBoundingClientRect().top;
  let marked = null;

  // The section that crosses a line near the top; toward the page's end the line moves
  // down, so that short last sections have their turn, unless one was asked for.
  const current = () => {
    const height = root.clientHeight;
    const whole = root.scrollHeight - height;
    const end = Math.min(whole, height); // of the way, where the line moves
    const rest = end ? Math.min(1, (whole - root.scrollTop) / end) : 1;
    const line = TOP * rest + height * (1 - rest);
    const asked = rest < 1 && entries.find(([link]) => link.hash === location.hash);
    if (asked && place(asked[1]) >= 0 && place(asked[1]) < line) return asked[0];
    return entries.findLast(([, section]) => place(section) < line)?.[0] ?? null;
  };

  const keepInView = () => {
    const frame = list.closest(".bd-sidebar-secondary");
    if (!frame || !marked) return;
    const box = marked.getBoundingClientRect();
    const view = frame.getBoundingClientRect();
    const room = Math.min(80, view.height / 4);
    if (box.top < view.top + room || box.bottom > view.bottom - room) {
      frame.scrollTop += (box.top + box.bottom - view.top - view.bottom) / 2;
    }
  };

  const mark = () => {
    const link = current();
    if (link === marked) return;
    marked?.removeAttribute("aria-current");
    link?.setAttribute("aria-current", "true");
    marked = link;
    keepInView();
  };

  let waiting = false;
  const later = () => {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => {
      waiting = false;
      mark();
    });
  };
  addEventListener("scroll", later, { passive: true });
  addEventListener("resize", later);
  addEventListener("hashchange", later);
  // On a phone the list is opened when it is wanted.
  const opener = document.querySelector(".secondary-toggle");
  opener?.addEventListener("click", () => requestAnimationFrame(keepInView));
  later();
})();
