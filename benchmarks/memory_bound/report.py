#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""From memory_bound.csv to memory_bound.md and memory_bound.png beside it.

usage: benchmarks/memory_bound/report.py memory_bound.csv [DEVICE]
"""
import csv
import math
import os
import sys
from collections import Counter, OrderedDict

FORMS = ("tenon", "tenon-dynamic")
SMALL = 1 << 20  # up to here a launch counts, above it the bandwidth


def read(path):
    """(operation, shape, kind): {participant: row}."""
    cases = OrderedDict()
    with open(path, newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            cases.setdefault((row["operation"], row["shape"], row["kind"]), {})[row["participant"]] = row
    return cases


def best_peer(players):
    times = {name: float(row["us"]) for name, row in players.items()
             if not name.startswith("tenon") and row["us"] and row["status"] == "ok"}
    return min(times.items(), key=lambda item: item[1]) if times else None


def ratio(players, form):
    """Time of the best peer / time of Tenon: above 1 Tenon is faster. None where one of them has no right result."""
    row, peer = players.get(form), best_peer(players)
    if row is None or not row["us"] or row["status"] != "ok" or peer is None:
        return None
    return peer[1] / float(row["us"])


def geometric_mean(values):
    return math.exp(sum(map(math.log, values)) / len(values)) if values else None


def number(row, key, form="{:.1f}"):
    return form.format(float(row[key])) if row and row.get(key) else "-"


def cell(row):
    if row is None:
        return "-"
    return number(row, "us") if row["status"] == "ok" else f"**{row['status']}**"


def summary(cases, out):
    for form in FORMS:
        found = {case: ratio(players, form) for case, players in cases.items()}
        known = {case: value for case, value in found.items() if value is not None}
        status = Counter(players[form]["status"] for players in cases.values() if form in players)
        states = ", ".join(f"{count} {name}" for name, count in status.most_common())
        mean = geometric_mean(list(known.values()))
        out.append(f"- **{form}**: {len(cases)} cases: {states or 'none measured'}; geometric mean of best peer / Tenon over "
                   f"{len(known)}: {f'{mean:.3f}' if mean else '-'}")
        for kind in sorted({case[2] for case in known}):
            some = [value for case, value in known.items() if case[2] == kind]
            out.append(f"  - {kind}: {geometric_mean(some):.3f} over {len(some)}")
    out.append("")


def misses(cases, out):
    out += ["## Misses: under 0.95 above 1 MiB, under 1.00 (time on the device) up to 1 MiB", "",
            "| case | form | ratio | Tenon us | best peer | us |", "|---|---|---|---|---|---|"]
    listed = []
    for case, players in cases.items():
        for form in FORMS:
            value = ratio(players, form)
            if value is not None and value < (0.95 if int(players[form]["bytes"]) > SMALL else 1.0):
                listed.append((value, case, form))
    for value, case, form in sorted(listed):
        name, time = best_peer(cases[case])
        out.append(f"| {' '.join(case)} | {form} | {value:.2f} | {number(cases[case][form], 'us')} | {name} | {time:.1f} |")
    out.append(f"\n{len(listed)} misses.\n")


def not_measured(cases, out):
    out += ["## Refused, wrong, failed or hung", "", "| count | form | what | message |", "|---|---|---|---|"]
    counted, where = Counter(), {}
    for case, players in cases.items():
        for name, row in players.items():
            if row["status"] != "ok":
                key = (name, row["status"], row["message"])
                counted[key] += 1
                where.setdefault(key, " ".join(case))
    for (name, status, message), count in counted.most_common():
        out.append(f"| {count} | {name} | {status} | {message.replace('|', '/')} ({where[(name, status, message)]}) |")
    out.append("")


def table(cases, out):
    out += ["## All cases", "",
            "Times are us on the device for one call. GB/s counts the bytes that must move: every input and result once. The "
            "ratio is best peer / Tenon. Errors are the largest absolute difference from float64.", "",
            "| operation | shape | type | L2 | Tenon | GB/s | dynamic | eager | compile | ratio | dynamic | error | torch's | host us: Tenon, eager, compile |",
            "|---|---|---|---|---|---|---|---|---|---|---|---|---|---|"]
    for (operation, shape, kind), players in cases.items():
        tenon, dynamic = (players.get(form) for form in FORMS)
        ratios = [ratio(players, form) for form in FORMS]
        any_row = next(iter(players.values()))
        hosts = [number(players.get(name), "host_us") for name in ("tenon", "eager", "compile")]
        out.append(f"| {operation} | {shape} | {kind} | {any_row['l2'] or '-'} | {cell(tenon)} | {number(tenon, 'gbps', '{:.0f}')} | "
                   f"{cell(dynamic)} | {cell(players.get('eager'))} | {cell(players.get('compile'))} | "
                   + " | ".join(f"{value:.2f}" if value else "-" for value in ratios)
                   + f" | {number(tenon, 'max_error', '{:.2g}')} | {number(players.get('eager'), 'max_error', '{:.2g}')} | "
                   + (", ".join(hosts) if hosts != ["-"] * 3 else "") + " |")
    out.append("")


def plot(cases, path, device):
    try:
        import matplotlib
        matplotlib.use("Agg")
        from matplotlib import pyplot
    except ImportError:
        print("no matplotlib: no plot (report.py makes it from the csv elsewhere)")
        return
    found = [(value, case, form) for form in FORMS for case, players in cases.items()
             if (value := ratio(players, form)) is not None]
    if not found:
        return
    operations = list(OrderedDict.fromkeys(case[0] for _, case, _ in found))
    colours = {"f32": "tab:blue", "bf16": "tab:orange", "f16": "tab:green", "i8": "tab:red", "f64": "tab:purple", "i32": "tab:brown",
               "i64": "tab:pink"}
    figure, axes = pyplot.subplots(figsize=(13, 6))
    for value, (operation, _, kind), form in found:
        place = operations.index(operation) + (list(colours).index(kind) - 1.5) * 0.15
        axes.plot(place, value, "o" if form == "tenon" else "x", color=colours[kind], markersize=4, alpha=0.7)
    axes.axhline(1.0, color="black", linewidth=0.8)
    axes.axhline(0.95, color="grey", linewidth=0.8, linestyle=":")
    axes.set_yscale("log")
    axes.set_yticks([0.1, 0.25, 0.5, 0.75, 1, 1.5, 2, 4, 8])
    axes.get_yaxis().set_major_formatter(matplotlib.ticker.FormatStrFormatter("%g"))
    axes.set_xticks(range(len(operations)), operations, rotation=45, ha="right")
    axes.set_ylabel("time of the best peer / time of Tenon (above 1: Tenon is faster)")
    axes.set_title(f"Memory-bound operations on {device}; o: fixed sizes, x: unknown sizes; " +
                   ", ".join(f"{kind} {colour[4:]}" for kind, colour in colours.items()))
    figure.tight_layout()
    figure.savefig(path, dpi=110)


def write(path, device):
    cases = read(path)
    out = [f"# Memory-bound operations on {device}: Tenon beside PyTorch", "",
           "Made by `benchmarks/memory_bound/run.py` (its README says how times are taken).", ""]
    summary(cases, out)
    misses(cases, out)
    not_measured(cases, out)
    table(cases, out)
    with open(os.path.splitext(path)[0] + ".md", "w", encoding="utf-8") as file:
        file.write("\n".join(out))
    plot(cases, os.path.splitext(path)[0] + ".png", device)
    print("\n".join(out[2:out.index("## All cases")]))


if __name__ == "__main__":
    write(sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else "the GPU")
