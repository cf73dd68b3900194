"""Take the four pictures of the page of `why.to_html`: desktop and phone, light and dark.

    python scripts/board_screenshots.py [FILE] [--out docs/images] [--full]

FILE is a board document (`.json`) or a page that `why.to_html` wrote (`.html`); without it, the refund sample of the
tests is drawn. Needs Debian's `chromium`; the pictures in the manual were taken with `fonts-inter` and
`fonts-jetbrains-mono` installed.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

from agentfootprint.explain.board import render_board

ROOT = Path(__file__).resolve().parent.parent
SIZES = {"desktop": (1440, 900), "phone": (390, 844)}


def page_of(file: Path | None) -> str:
    """The page to take pictures of."""
    if file is None:
        sys.path.insert(0, str(ROOT))
        from tests.explain.board.sample import refund_proven

        return render_board(refund_proven())
    text = file.read_text(encoding="utf-8")
    return text if file.suffix in {".html", ".htm"} else render_board(json.loads(text))


def main() -> None:
    """Write `board-{desktop,phone}-{light,dark}.png`."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path, nargs="?")
    parser.add_argument("--out", type=Path, default=ROOT / "docs" / "images")
    parser.add_argument("--full", action="store_true", help="the whole page instead of the first screen")
    parser.add_argument("--chromium", default="/usr/bin/chromium")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        page_file = Path(folder) / "board.html"
        page_file.write_text(page_of(options.file), encoding="utf-8")
        browser = playwright.chromium.launch(
            executable_path=options.chromium, args=["--no-sandbox", "--disable-background-networking"]
        )
        for size, (width, height) in SIZES.items():
            for scheme in ("light", "dark"):
                context = browser.new_context(
                    viewport={"width": width, "height": height}, color_scheme=scheme, reduced_motion="reduce"
                )
                page = context.new_page()
                page.goto(page_file.as_uri())
                target = options.out / f"board-{size}-{scheme}.png"
                page.screenshot(path=target, full_page=options.full)
                print(target)
                context.close()
        browser.close()


if __name__ == "__main__":
    main()
