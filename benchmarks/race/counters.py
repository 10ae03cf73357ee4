#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What limits the kernels of a race: a profiler's counters of each participant's, as a table.

On the GPU machine, for the cases that a race names as slow:

  ncu --profile-from-start off --nvtx --clock-control none --csv --page details --print-details all --section SpeedOfLight \\
      --section ComputeWorkloadAnalysis --section MemoryWorkloadAnalysis --section LaunchStats --section Occupancy \\
      --section SchedulerStats --section WarpStateStats --log-file ncu.csv \\
      benchmarks/gemm/run.py --counters --filter='64x4096x4096|1000x3000x7000' ...
  counters.py ncu.csv -o counters.csv

A row is a kernel. Times are in us, sizes in bytes, shares in percent of what the device can do; of a kernel alone, with cold caches.
"""
import argparse
import collections
import csv
import re
import sys

# Column: what the profiler calls it.
FIGURES = {
    "us": "Duration", "ghz": "SM Frequency", "grid": "Grid Size", "block": "Block Size", "cluster": "Cluster Size", "registers": "Registers Per Thread",
    "shared": "Dynamic Shared Memory Per Block", "waves": "Waves Per SM", "occupancy": "Achieved Occupancy", "issue": "Issue Slots Busy", "sm": "Compute (SM) Throughput",
    "l1": "L1/TEX Cache Throughput", "l2": "L2 Cache Throughput", "dram": "DRAM Throughput", "l2_hits": "L2 Hit Rate",
    "warps_ready": "Eligible Warps Per Scheduler"}
SCALE = {"ns": 1e-3, "us": 1, "ms": 1e3, "nsecond": 1e-3, "usecond": 1, "msecond": 1e3, "hz": 1e-9, "mhz": 1e-3, "ghz": 1, "byte/block": 1,
         "kbyte/block": 1024, "mbyte/block": 1 << 20}
PIPE = re.compile(r"(?i)(tensor|fma|alu|lsu|xu|fp64)")


def number(text, unit):
    try:
        return round(float(text.replace(",", "")) * SCALE.get(unit.lower(), 1), 3)
    except ValueError:
        return text


def kernels(lines):
    """{launch: (case, participant, kernel, {figure: value})} of ncu's details, which may have other lines in front."""
    lines = list(lines)
    begin = next((i for i, line in enumerate(lines) if line.startswith('"ID"')), None)
    if begin is None:
        raise SystemExit("counters.py: no table of ncu's in the file (made with --csv --page details?)")
    found = collections.OrderedDict()
    for row in csv.DictReader(line for line in lines[begin:] if line.startswith('"')):
        whose = re.search(r"@([^|@]*)\|([^@]*)@", " ".join(filter(None, row.values())))
        if whose is None or not row.get("Metric Name"):
            continue
        figures = found.setdefault(row["ID"], (*whose.groups(), row["Kernel Name"], {}))[3]
        name, value = row["Metric Name"], number(row["Metric Value"], row["Metric Unit"])
        for column, called in FIGURES.items():
            if name == called:
                figures.setdefault(column, value)
        if row["Section Name"].startswith("Compute Workload") and PIPE.search(name) and isinstance(value, float):
            figures.setdefault("pipes", {})[name] = value
        if "Stall" in name and isinstance(value, float):
            figures.setdefault("stalls", {})[name] = value
    return found


def largest(figures, count=3):
    """The largest of named figures, as a text."""
    return "; ".join(f"{name} {value:g}" for name, value in sorted(figures.items(), key=lambda each: -each[1])[:count] if value)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=argparse.FileType("r", encoding="utf-8"))
    parser.add_argument("-o", "--output", type=argparse.FileType("w", encoding="utf-8"), default=sys.stdout)
    options = parser.parse_args()
    writer = csv.writer(options.output, lineterminator="\n")
    writer.writerow(["case", "participant", "kernel", *FIGURES, "pipes", "stalls"])
    for case, participant, kernel, figures in kernels(options.file).values():
        writer.writerow([case, participant, kernel[:60], *(figures.get(column, "") for column in FIGURES), largest(figures.get("pipes", {})),
                         largest(figures.get("stalls", {}))])


if __name__ == "__main__":
    main()
