#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Two builds of Tenon, the same work, in turn: does a change cost time?

  compare.py --before=OLD/build --after=build --csv=benchmarks/results/builds_DATE.csv --md=benchmarks/results/builds_DATE.md

  link        tenon-link over 1,000 kernels for one target: parse, prove, write the executable with its PTX compressed
  prove       the same on one thread, up to where something would be written (--check --jobs=1)
  compile     tenon-compile: an empty module, 500 dispatches without a cache, and the same with one (the first round
              fills it)
  emulator    kernels of benchmarks/emulator, module loading and repeated launches, by tenon-emulator-benchmark

Each round runs every command once per build, the two in random order; time is CPU time of the process, the median of the
rounds and the least. The ratio is after / before, of each. On a shared machine trust the ratio of the least."""
import argparse
import csv
import datetime
import os
import pathlib
import platform
import random
import statistics
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "benchmarks" / "link"))
import generate

def cpu_seconds(command, cwd, environment=None):
    with tempfile.TemporaryFile() as output:
        child = subprocess.Popen(command, cwd=cwd, stdout=output, stderr=subprocess.STDOUT,
                                 env={**os.environ, **(environment or {})})
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode:
            output.seek(0)
            raise RuntimeError(f"{' '.join(map(str, command[:4]))} ...: {output.read(2000).decode()}")
    return usage.ru_utime + usage.ru_stime


def dispatches(count):
    """A module whose function computes `count` different kernels that cannot be fused: each reduces what the last one
    made, from another initial value."""
    lines = ["func.func @many(%x: tensor<64x64xf32>) -> tensor<64x64xf32> {"]
    value = "%x"
    for i in range(count):
        lines += [f"  %c{i} = arith.constant {i}.0 : f32",
                  f"  %e{i} = tensor.empty() : tensor<64x64xf32>",
                  f"  %f{i} = linalg.fill ins(%c{i} : f32) outs(%e{i} : tensor<64x64xf32>) -> tensor<64x64xf32>",
                  f"  %m{i} = linalg.matmul ins({value}, %x : tensor<64x64xf32>, tensor<64x64xf32>) "
                  f"outs(%f{i} : tensor<64x64xf32>) -> tensor<64x64xf32>"]
        value = f"%m{i}"
    return "\n".join([*lines, f"  return {value} : tensor<64x64xf32>", "}", ""])


def commands(folder, nvcc):
    """{case: (tool under the build folder, arguments)}"""
    generate.generate(1000, ["sm_90"], nvcc, folder)
    (folder / "empty.mlir").write_text("module {}\n")
    (folder / "many.mlir").write_text(dispatches(500))
    time.sleep(2.5)  # a file written within the last two seconds is copied, not mapped
    link, compile_ = "linker/tools/tenon-link", "compiler/tools/tenon-compile"
    return {
        "link 1,000 kernels": (link, ["--images=ptx", "job.json", "-o", "job.tnx"]),
        "prove 1,000 kernels": (link, ["--images=ptx", "--jobs=1", "--check", "job.json"]),
        "compile an empty module": (compile_, ["empty.mlir", "-o", "empty.tenon"]),
        "compile 500 dispatches": (compile_, ["many.mlir", "--images=ptx", "--cu-cache=none", "-o", "many.tenon"]),
        "compile 500 dispatches again": (compile_, ["many.mlir", "--images=ptx", "--cu-cache=cache", "-o", "many.tenon"]),
    }


def measure_tools(builds, rounds):
    """{case: {build: [CPU s]}}"""
    times = {}
    with tempfile.TemporaryDirectory(prefix="tenon-builds-") as scratch:
        folder = pathlib.Path(scratch)
        cases = commands(folder, "nvcc")
        for _ in range(rounds):
            for case, (tool, arguments) in cases.items():
                for name in random.sample(list(builds), len(builds)):
                    seconds = cpu_seconds([builds[name] / tool, *arguments], folder)
                    times.setdefault(case, {}).setdefault(name, []).append(seconds)
    return times


def measure_emulator(builds, rounds, ptx):
    """{case: {build: [CPU s of one launch]}}: the same benchmark program, the emulator of either build."""
    times = {}
    with tempfile.TemporaryDirectory(prefix="tenon-builds-") as scratch:
        for _ in range(rounds):
            for name in random.sample(list(builds), len(builds)):
                out = pathlib.Path(scratch, "rows.csv")
                cpu_seconds([builds[name] / "benchmarks/emulator/tenon-emulator-benchmark", f"--ptx={ptx}", "--threads=1",
                             "--seconds=0.2", f"--csv={out}"], scratch,
                            {"TENON_EMULATOR_LIBRARY": str(builds[name] / "emulator/libtenon_emulator.so")})
                with open(out, newline="") as file:
                    for row in csv.DictReader(file):
                        case = "emulator: " + " ".join(filter(None, (row.get("group"), row.get("name"), row.get("shape"))))
                        times.setdefault(case, {}).setdefault(name, []).append(float(row["cpu_seconds_least"]))
    return times


def write(path_csv, path_md, times, rounds, command):
    rows = []
    for case, by_build in times.items():
        before, after = by_build["before"], by_build["after"]
        rows.append({"case": case, "before_least_s": min(before), "after_least_s": min(after),
                     "ratio_least": min(after) / min(before), "before_median_s": statistics.median(before),
                     "after_median_s": statistics.median(after),
                     "ratio_median": statistics.median(after) / statistics.median(before)})
    if path_csv:
        with open(path_csv, "w", newline="") as file:
            writer = csv.DictWriter(file, rows[0])
            writer.writeheader()
            writer.writerows({key: f"{value:.6g}" if isinstance(value, float) else value for key, value in row.items()}
                             for row in rows)
    cpu = next((line.split(":", 1)[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")), "?")
    lines = [f"# Two builds, the same work ({datetime.date.today()})", "",
             f"`{command}` on {os.cpu_count()} x {cpu}, {platform.system()} {platform.release()}; {rounds} rounds, the two "
             "builds in random order. CPU time; after / before.", "",
             "| case | before, least | after, least | ratio of the least | ratio of the medians |", "|---|---|---|---|---|"]
    lines += [f"| {row['case']} | {row['before_least_s'] * 1e3:.4g} ms | {row['after_least_s'] * 1e3:.4g} ms "
              f"| {row['ratio_least']:.3f} | {row['ratio_median']:.3f} |" for row in rows]
    text = "\n".join(lines) + "\n"
    if path_md:
        pathlib.Path(path_md).write_text(text)
    print(text)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--before", type=pathlib.Path, required=True, help="build folder of the old tree")
    parser.add_argument("--after", type=pathlib.Path, required=True, help="build folder of the new tree")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--emulator-rounds", type=int, default=3)
    parser.add_argument("--csv")
    parser.add_argument("--md")
    options = parser.parse_args()
    builds = {"before": options.before.resolve(), "after": options.after.resolve()}
    times = measure_tools(builds, options.rounds)
    ptx = builds["before"] / "benchmarks/emulator/kernels.ptx"
    times.update(measure_emulator(builds, options.emulator_rounds, ptx))
    write(options.csv, options.md, times, options.rounds, "compare.py --before=OLD/build --after=build")


if __name__ == "__main__":
    main()
