#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Draws a race's table as bars: the best peer's time over Tenon's, case by case, on a logarithmic scale.

usage: benchmarks/race/plot.py TABLE.csv PICTURE.svg
"""
import csv
import html
import math
import sys

LIMIT = "copy"  # no peer (racing.py)
ROW, LEFT, WIDTH, LEAST, MOST = 13, 330, 420, 0.05, 16.0


def ratios(path):
    times = {}
    with open(path, encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            if row["burst_us"]:
                times.setdefault(row["case"], {})[row["participant"]] = float(row["burst_us"])
    for case, own in times.items():
        peers = [time for name, time in own.items() if name not in ("tenon", LIMIT)]
        if peers and "tenon" in own:
            yield case, min(peers) / own["tenon"]


def place(ratio):
    share = math.log(min(max(ratio, LEAST), MOST) / LEAST) / math.log(MOST / LEAST)
    return LEFT + WIDTH * share


def picture(bars):
    height = ROW * (len(bars) + 2)
    yield f'<svg xmlns="http://www.w3.org/2000/svg" width="{LEFT + WIDTH + 60}" height="{height}" font-family="sans-serif" font-size="10">'
    yield '<rect width="100%" height="100%" fill="white"/>'
    for mark in (0.1, 0.25, 0.5, 0.8, 1, 2, 4, 8):
        x = place(mark)
        yield f'<line x1="{x:.1f}" y1="{ROW}" x2="{x:.1f}" y2="{height}" stroke="{"black" if mark == 1 else "lightgray"}"/>'
        yield f'<text x="{x:.1f}" y="{ROW - 3}" text-anchor="middle">{mark}</text>'
    for number, (case, ratio) in enumerate(bars):
        y, (low, high) = ROW * (number + 1), sorted((place(1), place(ratio)))
        colour = "#2a7" if ratio >= 1 else "#da3" if ratio >= 0.8 else "#c44"
        yield f'<rect x="{low:.1f}" y="{y + 2}" width="{max(high - low, 1):.1f}" height="{ROW - 4}" fill="{colour}"/>'
        yield f'<text x="{LEFT - 6}" y="{y + ROW - 3}" text-anchor="end">{html.escape(case)}</text>'
        yield f'<text x="{LEFT + WIDTH + 6}" y="{y + ROW - 3}">{ratio:.2f}</text>'
    yield "</svg>"


def main():
    if len(sys.argv) != 3:
        print(__doc__, file=sys.stderr)
        return 2
    bars = list(ratios(sys.argv[1]))
    with open(sys.argv[2], "w", encoding="utf-8") as file:
        file.write("\n".join(picture(bars)) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
