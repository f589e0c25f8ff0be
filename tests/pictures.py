"""Holds figures against small stored pictures of themselves, and their labels against each other.

Usage: pictures.py ROUTH REFERENCES [--write]. Every figure is drawn by the command; its PNG, averaged to
a few thousand grey cells, must be near REFERENCES/NAME.pgm (fonts and versions of gnuplot move lines a
little), and in its SVG no label may run off the picture or lie over another. --write stores what is
drawn; look at it first. Exit codes: 0 as they were, 1 not, 77 skipped without gnuplot.
"""

import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import zlib
from html import unescape

# name of the figure's files, and the command that draws it
PICTURES = {
    "compass-gait-set": "impact compass-gait --law set --samples 200",
    "zeno-block-hybrid-s": "simulate zeno-block --domain s",
    "hopper-event-selected": "simulate hopper --end 300 --eps 0.01",
    "dropped-box-ensemble": "ensemble dropped-box --runs 12",
    "rocking-block-map": "map rocking-block --law simultaneous --vary width=0.5:1.5:8 --vary friction=0.1:1:8",
    "p4-fig4": "reproduce p4-fig4",
}
# of these the labels alone
LABELS = {
    "ramone-set": "impact ramone --law set --samples 30",
    "pushing-simultaneous": "impact pushing --law simultaneous",
    "disk-stack-simultaneous": "impact disk-stack --law simultaneous",
    "domino-row-time-stepping": "simulate domino-row --end 0.4 --set n=4",
    "p3-stick-slip": "reproduce p3-stick-slip",
    "p4-fig9": "reproduce p4-fig9",
}
CELLS = 72  # from left to right
MEAN, LARGEST = 4.0, 110.0  # differences that pass, of 255: of all cells, and of 3 by 3 cells in a row


def pixels(path):
    """Rows of grey values of a PNG of eight bits."""
    with open(path, "rb") as f:
        data = f.read()
    at, body = 8, b""
    while at < len(data):
        (length,) = struct.unpack(">I", data[at : at + 4])
        kind, chunk = data[at + 4 : at + 8], data[at + 8 : at + 8 + length]
        if kind == b"IHDR":
            width, height, depth, colour = struct.unpack(">IIBB", chunk[:10])
        if kind == b"IDAT":
            body += chunk
        at += 12 + length
    n = {0: 1, 2: 3, 4: 2, 6: 4}[colour]
    assert depth == 8
    raw, stride, rows, last = zlib.decompress(body), n * width, [], bytes(n * width)
    for y in range(height):
        kind = raw[y * (stride + 1)]
        line = bytearray(raw[y * (stride + 1) + 1 : (y + 1) * (stride + 1)])
        if kind == 2:
            line = bytearray((a + b) & 255 for a, b in zip(line, last))
        elif kind:
            for x in range(stride):
                left = line[x - n] if x >= n else 0
                up, corner = last[x], last[x - n] if x >= n else 0
                if kind == 1:
                    guess = left
                elif kind == 3:
                    guess = (left + up) // 2
                else:
                    p = left + up - corner
                    guess = min((abs(p - left), 0, left), (abs(p - up), 1, up), (abs(p - corner), 2, corner))[2]
                line[x] = (line[x] + guess) & 255
        rows.append(line[1::n] if n > 2 else line[::n])  # green is near to grey
        last = line
    return rows


def small(path):
    """The picture as rows of CELLS averages."""
    rows = pixels(path)
    height, width = len(rows), len(rows[0])
    cells = max(1, round(CELLS * height / width))
    picture = []
    for i in range(cells):
        some = rows[i * height // cells : (i + 1) * height // cells]
        ends = [j * width // CELLS for j in range(CELLS + 1)]
        sums = [0] * CELLS
        for row in some:
            for j in range(CELLS):
                sums[j] += sum(row[ends[j] : ends[j + 1]])
        picture.append([s / (len(some) * (ends[j + 1] - ends[j])) for j, s in enumerate(sums)])
    return picture


def write_pgm(path, picture):
    with open(path, "w") as f:
        f.write("P2\n%d %d\n255\n" % (len(picture[0]), len(picture)))
        for row in picture:
            f.write(" ".join("%d" % round(x) for x in row) + "\n")


def read_pgm(path):
    with open(path) as f:
        words = f.read().split()
    width, height, values = int(words[1]), int(words[2]), [float(w) for w in words[4:]]
    return [values[i * width : (i + 1) * width] for i in range(height)]


def difference(a, b):
    """Mean of all cells, and the largest of blocks of cells; None where the shapes differ."""
    if abs(len(a) - len(b)) > 1:
        return None
    height, width = min(len(a), len(b)), len(a[0])
    d = [[abs(a[i][j] - b[i][j]) for j in range(width)] for i in range(height)]
    mean = sum(map(sum, d)) / (height * width)
    largest = max(
        sum(d[i + k][j + l] for k in range(3) for l in range(3)) / 9
        for i in range(height - 2)
        for j in range(width - 2)
    )
    return mean, largest


def labels(svg):
    """Texts of an SVG with the boxes they take, about."""
    size = re.search(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', svg)
    boxes = []
    pattern = (
        r'<g transform="translate\(([-\d.]+),([-\d.]+)\)(?: rotate\(([-\d.]+)\))?"[^>]*font-size="([\d.]+)"'
        r'\s+text-anchor="(\w+)">\s*<text>(.*?)</text>'
    )
    for x, y, turn, font, anchor, inner in re.findall(pattern, svg, re.S):
        text = unescape(re.sub(r"<[^>]*>", "", inner)).strip()
        if not text:
            continue
        # in a font of usual width, lower than its letters
        long, high = 0.58 * float(font) * len(text), 0.6 * float(font)
        from_ = {"start": 0, "middle": -long / 2, "end": -long}[anchor]
        x, y = float(x), float(y)
        if turn and float(turn) % 180 == 90:
            low, top = (y - from_ - long, y - from_) if float(turn) % 360 == 270 else (y + from_, y + from_ + long)
            boxes.append((text, x - high, low, x, top))
        else:
            boxes.append((text, x + from_, y - high, x + from_ + long, y))
    return float(size[1]), float(size[2]), boxes


def trouble(svg):
    width, height, boxes = labels(svg)
    found = []
    for k, (text, x0, y0, x1, y1) in enumerate(boxes):
        if x0 < 0 or y0 < 0 or x1 > width or y1 > height:
            found.append("'%s' runs off" % text)
        for other, a0, b0, a1, b1 in boxes[:k]:
            if x0 < a1 and a0 < x1 and y0 < b1 and b0 < y1:
                found.append("'%s' lies over '%s'" % (text, other))
    return found if boxes else ["there are no labels"]


def main():
    program, references, write = sys.argv[1], sys.argv[2], "--write" in sys.argv
    if not shutil.which("gnuplot"):
        print("skipped: no gnuplot")
        return 77
    failed = 0
    for name, command in {**PICTURES, **LABELS}.items():
        with tempfile.TemporaryDirectory() as folder:
            out = "--out" if command.startswith("reproduce") else "--plot"
            run = subprocess.run(
                [program, *command.split(), out, folder, "--quiet"], capture_output=True, text=True
            )
            if not os.path.exists(os.path.join(folder, name + ".png")):
                print("%s: not drawn (exit code %d) %s" % (name, run.returncode, run.stderr))
                failed += 1
                continue
            picture = small(os.path.join(folder, name + ".png")) if name in PICTURES else None
            with open(os.path.join(folder, name + ".svg"), encoding="utf-8") as f:
                found = trouble(f.read())
        off = (0, 0)
        if picture:
            stored = os.path.join(references, name + ".pgm")
            if write:
                write_pgm(stored, picture)
            off = difference(picture, read_pgm(stored))
            if off is None or off[0] > MEAN or off[1] > LARGEST:
                found.append("not as stored: %s" % ("another shape" if off is None else "%.1f, %.1f" % off))
        for what in found:
            print("%s: %s" % (name, what))
        failed += bool(found)
        if not found:
            print("%s: as it should be, to %.1f and %.1f of 255" % (name, *off))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
