"""``python -m mercer.plot FOLDER``: draws the gallery."""

from __future__ import annotations

import argparse
import importlib
import os
from pathlib import Path

from .style import pyplot


def main() -> None:
    """Draws every figure of the lectures into a folder, with an index page."""
    parser = argparse.ArgumentParser(
        prog="python -m mercer.plot",
        description="Draw every figure of the lectures as PNG files.",
        epilog="example: python -m mercer.plot gallery",
    )
    parser.add_argument("folder", type=Path, help="folder for the pictures")
    parser.add_argument(
        "--index", type=Path, help="page that shows the pictures [default: FOLDER/README.md]"
    )
    arguments = parser.parse_args()
    # Without a screen.
    pyplot().switch_backend("agg")
    gallery = importlib.import_module("mercer.plot.gallery")
    files = gallery.write(arguments.folder)
    page = arguments.index or arguments.folder / "README.md"
    page.parent.mkdir(parents=True, exist_ok=True)
    images = Path(os.path.relpath(arguments.folder, page.parent)).as_posix()
    page.write_text(gallery.index(images), encoding="utf-8")
    print(f"{len(files)} figures in {arguments.folder}, shown by {page}")


if __name__ == "__main__":
    main()
