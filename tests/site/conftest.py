"""A server and a browser for the tests that look at the built site.

The browser is Debian's Chromium or any other that is found here; none is downloaded.
`visits` opens every page once and keeps what was seen, for all tests to judge.
"""

from __future__ import annotations

import functools
import http.server
import os
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from looking import Seen, look
from playwright.sync_api import Browser, sync_playwright

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome", "msedge")
UNDER = "/white-box-gpt/"  # a host may serve the site below any path


@pytest.fixture(scope="session")
def pages(site: Path) -> list[str]:
    """The site's pages, as paths below its root; not those that only lead on."""
    return sorted(
        page.relative_to(site).as_posix()
        for page in site.rglob("*.html")
        if 'http-equiv="Refresh"' not in page.read_text("utf-8")
    )


class Quiet(http.server.SimpleHTTPRequestHandler):
    """Serves the site below UNDER, and nothing elsewhere."""

    def translate_path(self, path: str) -> str:
        inside = path.startswith(UNDER)
        return super().translate_path(path.removeprefix(UNDER) if inside else "/-")

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture(scope="session")
def served(site: Path) -> Iterator[str]:
    """The address at which the site is served on this machine."""
    handler = functools.partial(Quiet, directory=str(site))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}{UNDER}"
        server.shutdown()


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """A Chromium; without one the tests are skipped, but never in CI."""
    found = os.environ.get("CHROMIUM") or next(
        filter(None, map(shutil.which, NAMES)), ""
    )
    if not found:
        message = (
            "no browser is on the path (apt-get install chromium, or set CHROMIUM)"
        )
        (pytest.fail if os.environ.get("CI") else pytest.skip)(message)
    with sync_playwright() as play:
        browser = play.chromium.launch(
            executable_path=found,
            args=["--no-sandbox", "--disable-gpu", "--disable-background-networking"],
        )
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def visits(
    browser: Browser, served: str, site: Path, pages: list[str]
) -> dict[str, Seen]:
    """What a browser saw on each page; of the tangled files, on the largest and last.

    The pages of tangled files are made by one template, two for every chapter.
    """
    made = [page for page in pages if page.startswith("tangled/")]
    rest = sorted(made, key=lambda page: (site / page).stat().st_size)[:-1]
    chosen = sorted({*pages} - {*rest} | {*made[-1:]})
    return {page: look(browser, served, page) for page in chosen}
