"""Runs a notebook that is kept as text (py:percent) and writes it with what it showed: a Markdown page and an .ipynb.

    python3 tools/notebook.py docs/notebooks/landing.py build/docs/source/notebooks
"""

import ast
import base64
import contextlib
import io
import json
import pathlib
import sys
import time

import matplotlib

matplotlib.use("agg")
import matplotlib.pyplot as plt  # noqa: E402


def cells(text):
    """(kind, source) of each cell."""
    found = []
    for line in text.splitlines():
        if line.startswith("# %%"):
            found.append(["markdown" if "[markdown]" in line else "code", []])
        elif found:
            found[-1][1].append(line[2:] if found[-1][0] == "markdown" else line)
    return [(kind, "\n".join(lines).strip("\n")) for kind, lines in found]


def run(source, names):
    """What a cell prints, the value of its last expression, and the figures it leaves open."""
    tree = ast.parse(source)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    value, printed = None, io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(tree, "notebook", "exec"), names)
        if last is not None:
            value = eval(compile(ast.Expression(last.value), "notebook", "eval"), names)
    figures = []
    for number in plt.get_fignums():
        picture = io.BytesIO()
        plt.figure(number).savefig(picture, format="png", dpi=110)
        figures.append(picture.getvalue())
    plt.close("all")
    return printed.getvalue(), value, figures


def main(path, folder):
    began = time.monotonic()
    folder.mkdir(parents=True, exist_ok=True)
    names, page, notebook, pictures = {"__name__": "notebook"}, [], [], 0
    for kind, source in cells(path.read_text(encoding="utf-8")):
        if kind == "markdown":
            page.append(source)
            notebook.append({"cell_type": "markdown", "metadata": {}, "source": source})
            continue
        printed, value, figures = run(source, names)
        outputs = []
        page.append(f"```python\n{source}\n```")
        if printed:
            page.append(f"```{{code-block}} none\n:class: output\n\n{printed.rstrip()}\n```")
            outputs.append({"output_type": "stream", "name": "stdout", "text": printed})
        if value is not None:
            html = getattr(value, "_repr_html_", lambda: None)()
            page.append(f"```{{raw}} html\n<div class='output'>{html}</div>\n```" if html
                        else f"```{{code-block}} none\n:class: output\n\n{value!r}\n```")
            data = {"text/plain": repr(value)}
            if html:
                data["text/html"] = html
            outputs.append({"output_type": "execute_result", "execution_count": None, "metadata": {}, "data": data})
        for picture in figures:
            pictures += 1
            name = f"{path.stem}-{pictures}.png"
            (folder / name).write_bytes(picture)
            page.append(f"![]({name})")
            outputs.append({"output_type": "display_data", "metadata": {},
                            "data": {"image/png": base64.b64encode(picture).decode()}})
        notebook.append({"cell_type": "code", "metadata": {}, "execution_count": None, "source": source, "outputs": outputs})
    page.append(f'<a href="{path.stem}.ipynb" download>This page as a notebook</a>')
    (folder / f"{path.stem}.md").write_text("\n\n".join(page) + "\n", encoding="utf-8")
    for k, cell in enumerate(notebook):
        cell["id"] = f"cell{k}"
    (folder / f"{path.stem}.ipynb").write_text(json.dumps(
        {"nbformat": 4, "nbformat_minor": 5, "cells": notebook,
         "metadata": {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}}, indent=1))
    print(f"{path.name}: {len(notebook)} cells, {time.monotonic() - began:.1f} s")


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]))
