"""Are all links of the documentation alive, and do its code blocks say what is there?

    python3 tools/check_site.py SITE DOCS README ROUTH

Links and pictures of the built pages lead to files and places within the site, and every page is in a table of contents.
Commands in code blocks name commands, options and scenarios that exist; blocks of Python run, page by page, except those
marked no-run. Statements that need Matplotlib are left out where it is not installed, and named.
"""

import ast
import contextlib
import html.parser
import io
import itertools
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import urllib.parse


class Page(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.links, self.places = [], set()
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        a = dict(attributes)
        self.places.update(x for x in (a.get("id"), a.get("name")) if x)
        self.links += [a[key] for key in ("href", "src") if a.get(key)]


def dead_links(site):
    pages = {}

    def page(path):
        if path not in pages:
            pages[path] = Page(path.read_text(encoding="utf-8", errors="replace"))
        return pages[path]

    count = 0
    for path in sorted(site.rglob("*.html")):
        if "cpp" in path.relative_to(site).parts[:1] and path.name != "index.html":
            continue  # Doxygen's own
        for link in page(path).links:
            parts = urllib.parse.urlsplit(link)
            if parts.scheme or parts.netloc:
                if parts.scheme in ("http", "https") and "pradyunsg" not in link and "sphinx-doc" not in link \
                        and "doxygen" not in link:
                    yield f"{path.relative_to(site)}: {link} needs the network"
                continue
            count += 1
            target = path if not parts.path else (path.parent / urllib.parse.unquote(parts.path)).resolve()
            if not target.exists():
                yield f"{path.relative_to(site)}: {link} leads nowhere"
            elif parts.fragment and target.suffix == ".html" and "cpp" not in target.parts \
                    and urllib.parse.unquote(parts.fragment) not in page(target).places:
                yield f"{path.relative_to(site)}: {link} names no place there"
    if count < 100:
        yield f"only {count} links were found"


def blocks(text):
    """(language, lines) of code blocks, fenced or indented."""
    fenced = re.compile(r"^```(.*?)\n(.*?)^```", re.M | re.S)
    for match in fenced.finditer(text):
        yield match[1].strip(), match[2]
    rest = fenced.sub("", text)
    for match in re.finditer(r"(?:^    .*\n)+", rest, re.M):
        yield "", re.sub(r"^    ", "", match[0], flags=re.M)


def wrong_commands(name, text, program, known):
    for language, block in blocks(text):
        if language not in ("", "sh", "bash"):
            continue
        for line in block.splitlines():
            found = re.match(r"(?:build/)?routh ([a-z]+)(.*)", line.split("#")[0].strip())
            if not found or found[1] not in known["commands"]:
                if found:
                    yield f"{name}: routh has no command {found[1]}"
                continue
            try:
                words = shlex.split(found[2])
            except ValueError:
                yield f"{name}: {line}"
                continue
            if found[1] not in known["help"]:
                known["help"][found[1]] = subprocess.run([program, found[1], "--help"], capture_output=True,
                                                         text=True).stdout
            for word in words:
                option = word.split("=")[0]
                if re.fullmatch(r"--[a-z][a-z-]*", option) and option not in known["help"][found[1]]:
                    yield f"{name}: routh {found[1]} has no option {option}"
            items = re.search(r"\{all,([a-z0-9,-]+)\}", known["help"][found[1]]) if found[1] == "reproduce" else None
            for word in itertools.takewhile(lambda w: not w.startswith("-"), words) if items else ():
                if word not in ("all", *items[1].split(",")):
                    yield f"{name}: routh reproduce has no {word}"
            first = next((w for w in words if not w.startswith("-")), "")
            if found[1] in ("impact", "check", "simulate", "ensemble", "show") and re.fullmatch(r"[a-z0-9-]+", first) \
                    and first not in known["scenarios"]:
                yield f"{name}: there is no scenario {first}"


def unlisted(docs):
    """Pages that no table of contents leads to."""
    pages = {path.resolve() for path in docs.rglob("*.md")}
    named = re.compile(r".*<(.*)>")  # Title <page>
    listed = {(path.parent / (named.sub(r"\1", line).strip() + ".md")).resolve() for path in pages
              for language, block in blocks(path.read_text(encoding="utf-8")) if language == "{toctree}"
              for line in block.splitlines()}
    for path in sorted(pages - listed - {(docs / "index.md").resolve()}):
        yield f"{path.name}: is in no table of contents"


def matrices():
    """Of the block that the README writes about."""
    return {"M": [[1, 0, 0], [0, 1, 0], [0, 0, 5 / 12]], "Jn": [[0, 1, -0.5], [0, 1, 0.5]], "Jt": [[1, 0, 1], [1, 0, 1]],
            "mu": 1, "v": [0, -0.4429, 0]}


def failing_python(name, text, left_out):
    names = {"__name__": "page", **matrices()}
    for language, block in blocks(text):
        if language != "python":
            continue
        try:
            for statement in ast.parse(block, name).body:
                try:
                    exec(compile(ast.Module([statement], []), name, "exec"), names)
                except ModuleNotFoundError as e:
                    if e.name != "matplotlib":
                        raise
                    left_out.append(f"{name}: {ast.unparse(statement)}")
        except Exception as e:
            yield f"{name}: {type(e).__name__}: {e}\n{block}"


def main(site, docs, readme, program):
    listed = subprocess.run([program, "list", "--json", "-"], capture_output=True, text=True).stdout
    scenarios = {s["name"] for s in json.loads(listed)["scenarios"]} if listed.startswith("{") else set()
    shown = subprocess.run([program, "--help"], capture_output=True, text=True).stdout.partition("Subcommands:")[2]
    commands = re.findall(r"^  ([a-z]+) ", shown, re.M) + ["man", "completion"]
    known = {"commands": commands, "help": {}, "scenarios": scenarios}
    trouble = list(dead_links(site.resolve())) if site else []
    trouble += unlisted(docs)
    folder, left_out = os.getcwd(), []
    for path in [*sorted(docs.rglob("*.md")), readme]:
        text = path.read_text(encoding="utf-8")
        trouble += wrong_commands(path.name, text, program, known)
        with contextlib.redirect_stdout(io.StringIO()):
            trouble += failing_python(path.name, text, left_out)
        os.chdir(folder)
        for link in re.findall(r"\]\(([^)#]+)[^)]*\)", re.sub(r"```.*?```", "", text, flags=re.S)):
            generated = link in ("cli.md",) or link.startswith("notebooks/")
            if not re.match(r"[a-z]+:", link) and not generated and not (path.parent / link).exists():
                trouble.append(f"{path.name}: {link} leads nowhere")
    for line in left_out:
        print("docs: left out without Matplotlib:", line)
    for line in trouble:
        print("docs:", line, file=sys.stderr)
    return 1 if trouble else 0


if __name__ == "__main__":
    place = [pathlib.Path(a) if a else None for a in sys.argv[1:4]]
    sys.exit(main(*place, sys.argv[4]))
