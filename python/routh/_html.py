"""Results for notebooks: tables, and figures as SVG."""

import base64
import tempfile
from html import escape
from pathlib import Path


def table(head, rows):
    """Rows of text; every cell is escaped."""
    cells = "".join(f"<th style='text-align:left'>{escape(str(c))}</th>" for c in head)
    body = "".join("<tr>" + "".join(f"<td style='text-align:left'>{escape(str(c))}</td>" for c in row) + "</tr>"
                   for row in rows)
    return f"<table><thead><tr>{cells}</tr></thead><tbody>{body}</tbody></table>"


_MOST_SVG = 300_000  # bytes; notebooks keep what they show


def svg(draw):
    """The first SVG that `draw(name, folder)` writes, its pixels where it is large; nothing where gnuplot is missing."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            written = draw("figure", folder)
        except (ValueError, OSError, RuntimeError):
            return ""
        for path in written:
            if path.endswith(".svg"):
                text, pixels = Path(path).read_text(encoding="utf-8"), Path(path).with_suffix(".png")
                if len(text) > _MOST_SVG and pixels.exists():
                    return f"<img src='data:image/png;base64,{base64.b64encode(pixels.read_bytes()).decode()}'>"
                return text[text.find("<svg"):]
    return ""


def verdict(text, unique):
    colour = {True: "#1a7f37", False: "#c8281e", None: "#9a6700"}[unique]
    return f"<p style='color:{colour}'><b>{escape(text)}</b></p>"
