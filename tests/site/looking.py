"""Open a page as readers do: light and dark, on a desk and on a phone."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from axe_playwright_python.base import AXE_FILE_PATH
from playwright.sync_api import Browser, Page, Response, ViewportSize

DESK: ViewportSize = {"width": 1280, "height": 900}
PHONE: ViewportSize = {"width": 375, "height": 800}
AXE = AXE_FILE_PATH.read_text("utf-8")
CONTRAST = {"runOnly": ["color-contrast"]}
ALL_ELSE = {"rules": {"color-contrast": {"enabled": False}}}
# The colours of code, drawings and formulas repeat thousands of times, and axe is slow
# to judge one: of those alike, leave it the first.
THIN_OUT = """() => {
  const seen = new Set();
  for (const each of document.querySelectorAll("pre span, svg text, math *")) {
    if (each.childElementCount) continue;
    const style = getComputedStyle(each);
    const around = each.closest("pre, svg, math").parentElement.className;
    const key = [each.tagName, style.color, style.fill, style.fontSize, around].join();
    if (seen.has(key)) each.textContent = "";
    seen.add(key);
  }
}"""
# Nor does axe judge text on a gradient, such as the shadow that says there is more.
NO_GRADIENT = "* { background-image: none !important }"
DARK = "document.documentElement.dataset.theme = 'dark'"


@dataclass
class Seen:
    """What happened while a page was open."""

    asked: list[str] = field(default_factory=list)  # addresses of all requests
    refused: list[str] = field(default_factory=list)  # answers of 400 and more
    errors: list[str] = field(default_factory=list)  # the console's, and exceptions
    sizes: dict[str, int] = field(default_factory=dict)  # bytes by address
    axe: list[str] = field(default_factory=list)  # serious and critical findings
    too_wide: int = 0  # pixels by which the page scrolls sideways on a phone
    maths: bool = True  # the font for mathematics came, if there is mathematics

    @property
    def weight(self) -> int:
        return sum(self.sizes.values())


def look(browser: Browser, base: str, name: str) -> Seen:
    """Return what a browser with an empty cache sees on page `name`."""
    seen = Seen()
    context = browser.new_context(viewport=PHONE, color_scheme="light")
    page = context.new_page()
    answers: list[Response] = []
    page.on("request", lambda request: seen.asked.append(request.url))
    page.on("response", lambda answer: answers.append(answer))
    page.on("pageerror", lambda error: seen.errors.append(str(error)))
    page.on(
        "console",
        lambda said: seen.errors.append(said.text) if said.type == "error" else None,
    )
    page.goto(base + name, wait_until="load")
    page.evaluate("document.fonts.ready.then(() => true)")
    for answer in answers:
        if answer.status >= 400:
            seen.refused.append(f"{answer.status} {answer.url}")
        elif answer.url.startswith("http"):
            seen.sizes[answer.url.removeprefix(base)] = len(answer.body())
    seen.maths = page.evaluate(
        "!document.querySelector('math') || document.fonts.check('16px \"Book Math\"')"
    )
    seen.too_wide = page.evaluate(
        "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    )
    page.add_script_tag(content=AXE)
    seen.axe += axe(page, f"{name}, on a phone", ALL_ELSE)
    page.set_viewport_size(DESK)
    seen.axe += axe(page, f"{name}, on a desk", ALL_ELSE)
    page.evaluate(THIN_OUT)
    page.add_style_tag(content=NO_GRADIENT)
    seen.axe += axe(page, f"{name}, light", CONTRAST)
    page.evaluate(DARK)
    seen.axe += axe(page, f"{name}, dark", CONTRAST)
    context.close()
    return seen


def axe(page: Page, where: str, rules: dict[str, Any]) -> list[str]:
    """Return axe's serious and critical findings on the page as it stands."""
    options = {**rules, "resultTypes": ["violations"], "preload": False}
    found = page.evaluate("options => axe.run(document, options)", options)
    return [
        f"{where}: {each['id']}: {node['html'][:160]}: {node['failureSummary']}"
        for each in found["violations"]
        if each["impact"] in ("serious", "critical")
        for node in each["nodes"]
    ]
