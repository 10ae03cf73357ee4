#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""tenon-link against nvlink + fatbinary, on the same objects, in the same run, interleaved; medians.

  run.py --build=build --counts=1,100,1000,10000 --targets=1,4

For each number of kernels and targets:
  tenon      tenon-link job.json: parse, prove, write one executable that holds the PTX, compressed
  prove      the same on one thread, up to where something would be written (tenon-link --check --jobs=1): from the start
             of the process to its end, manifest and objects read, parsed and proved
  nvidia     nvlink over the cubins that `ptxas -c` made of the same PTX, once per target, then one fatbinary over the
             results; ptxas is not counted
  fatbin     fatbinary over the same PTX images, compressed: for the size of the file, and its time

Time is wall time with the CPU time beside it (a shared machine disturbs the former); memory is the highest resident set
of any process of the row, at least this script's own 16 MiB. Results go to benchmarks/results/link_DATE.csv and .md.
"""
import argparse
import csv
import datetime
import os
import pathlib
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
import generate

ROOT = pathlib.Path(__file__).resolve().parents[2]
TARGETS = ["sm_80", "sm_90", "sm_100", "sm_120"]


def measure(commands, cwd, accept=(0,)):
    """(wall s, CPU s, peak MiB) of the commands one after the other."""
    wall = cpu = peak = 0.0
    for command in commands:
        with tempfile.TemporaryFile() as output:
            start = time.perf_counter()
            child = subprocess.Popen(command, cwd=cwd, stdout=output, stderr=subprocess.STDOUT)
            _, status, usage = os.wait4(child.pid, 0)
            wall += time.perf_counter() - start
            child.returncode = os.waitstatus_to_exitcode(status)
            if child.returncode not in accept:
                output.seek(0)
                raise RuntimeError(f"{' '.join(map(str, command[:6]))} ...: {output.read(2000).decode()}")
        cpu += usage.ru_utime + usage.ru_stime
        peak = max(peak, usage.ru_maxrss / 1024)
    return wall, cpu, peak


def assemble(objects, folder):
    """Cubins for nvlink; [(target, path)]. One per core at a time, not counted."""
    running, made = [], []
    for target, ptx in objects:
        cubin = ptx.with_suffix(".cubin")
        made.append((target, cubin))
        if len(running) == os.cpu_count() and running.pop(0).wait():
            raise RuntimeError(f"ptxas refuses an object in {folder}")
        running.append(subprocess.Popen(["ptxas", "-c", f"-arch={target}", str(ptx), "-o", str(cubin)]))
    for child in running:
        if child.wait():
            raise RuntimeError(f"ptxas refuses an object in {folder}")
    return made


def commands_for(objects, cubins, targets, tenon_link):
    link = [tenon_link, "--images=ptx"]  # ptxas is not counted on either side
    nvidia = [["nvlink", f"-arch={target}", *[c.name for t, c in cubins if t == target], "-o", f"linked_{target}.cubin"]
              for target in targets]
    nvidia.append(["fatbinary", "--64", "--create=linked.fatbin",
                   *[f"--image3=kind=elf,sm={target[3:]},file=linked_{target}.cubin" for target in targets]])
    fatbin = [["fatbinary", "--64", "--compress-all", "--create=ptx.fatbin",
               *[f"--image3=kind=ptx,sm={target[3:]},file={ptx.name}" for target, ptx in objects]]]
    return {"tenon": ([[*link, "job.json", "-o", "job.tnx"]], (0,)),
            "prove": ([[*link, "--jobs=1", "--check", "job.json"]], (0,)),
            "nvidia": (nvidia, (0,)), "fatbin": (fatbin, (0,))}


def run_size(count, targets, options, nvcc, tenon_link):
    """Rows of one size: one per road."""
    with tempfile.TemporaryDirectory(prefix="tenon-link-") as scratch:
        folder = pathlib.Path(scratch)
        objects = generate.generate(count, targets, nvcc, folder)
        cubins = assemble(objects, folder) if count * len(targets) <= options.most_cubins else []
        time.sleep(2.5)  # files that were written in the last two seconds are copied, not mapped (support/files/file_bytes.cpp)
        commands = commands_for(objects, cubins, targets, tenon_link)
        if not cubins:
            del commands["nvidia"]
        samples = {road: [] for road in commands}
        for _ in range(options.repeat):
            for road, (command, accept) in commands.items():  # interleaved: a disturbance meets every road
                samples[road].append(measure(command, folder, accept))
        size = {"tenon": "job.tnx", "nvidia": "linked.fatbin", "fatbin": "ptx.fatbin"}
        megabytes = sum(ptx.stat().st_size for _, ptx in objects) / 1e6
        for road, taken in samples.items():
            wall, cpu, peak = (statistics.median(column) for column in zip(*taken))
            yield {"kernels": count, "targets": len(targets), "road": road, "ptx_mb": round(megabytes, 3),
                   "wall_s": round(wall, 4), "cpu_s": round(cpu, 4), "peak_mib": round(peak, 1),
                   "file_bytes": (folder / size[road]).stat().st_size if road in size else "", "repeat": len(taken)}


def text_report(rows, machine):
    """Markdown: what was measured, where, and how it grows."""
    at = {(row["kernels"], row["targets"], row["road"]): row for row in rows}
    lines = ["# tenon-link against nvlink + fatbinary", "", *machine, "",
             "| kernels | targets | PTX MB | tenon-link s (CPU) | prove s (CPU) | nvlink + fatbinary s (CPU) | tenon MiB "
             "| nvidia MiB | .tnx KB | fatbin of the same PTX KB | fatbin of cubins KB |",
             "|---|---|---|---|---|---|---|---|---|---|---|"]
    for count, targets in dict.fromkeys((row["kernels"], row["targets"]) for row in rows):
        tenon, prove, fatbin = (at[count, targets, road] for road in ("tenon", "prove", "fatbin"))
        nvidia = at.get((count, targets, "nvidia"))
        seconds = lambda row: f"{row['wall_s']:.3f} ({row['cpu_s']:.3f})" if row else "not run"
        size = lambda row: f"{row['file_bytes'] / 1e3:.1f}" if row else "not run"
        lines.append(f"| {count} | {targets} | {tenon['ptx_mb']} | {seconds(tenon)} | {seconds(prove)} | {seconds(nvidia)} "
                     f"| {tenon['peak_mib']} | {nvidia['peak_mib'] if nvidia else 'not run'} | {size(tenon)} "
                     f"| {size(fatbin)} | {size(nvidia)} |")
    lines += ["", "## Growth", "Microseconds of CPU time per kernel and target; linear growth is a constant column.", "",
              "| kernels | targets | tenon-link | prove | prove, MB of PTX per s of CPU | nvlink + fatbinary |",
              "|---|---|---|---|---|---|"]
    for count, targets in dict.fromkeys((row["kernels"], row["targets"]) for row in rows):
        each = lambda road: (f"{at[count, targets, road]['cpu_s'] / count / targets * 1e6:.0f}"
                             if (count, targets, road) in at else "not run")
        prove = at[count, targets, "prove"]
        speed = prove["ptx_mb"] / max(prove["cpu_s"], 1e-4)
        lines.append(f"| {count} | {targets} | {each('tenon')} | {each('prove')} | {speed:.0f} | {each('nvidia')} |")
    return "\n".join(lines + goals_text(at)) + "\n"


def goals_text(at):
    """Where the largest measured size of each number of targets stands."""
    lines = ["", "## Against the goals"]
    for targets in sorted({key[1] for key in at}):
        largest = max(key[0] for key in at if key[1] == targets)
        tenon, prove = at[largest, targets, "tenon"], at[largest, targets, "prove"]
        speed = prove["ptx_mb"] / prove["cpu_s"]
        lines.append(f"- {largest} kernels x {targets}: proves {speed:.0f} MB of PTX per second of one core; the goal is "
                     f"200: {'met' if speed >= 200 else 'not met'}.")
        linked = [key[0] for key in at if key[1:] == (targets, "nvidia")]
        if linked:
            tenon, nvidia = at[max(linked), targets, "tenon"], at[max(linked), targets, "nvidia"]
            ratio = nvidia["cpu_s"] / tenon["cpu_s"]
            lines.append(f"- {max(linked)} kernels x {targets}: {ratio:.2f} times as fast as nvlink + fatbinary in CPU time "
                         f"({nvidia['wall_s'] / tenon['wall_s']:.2f} in wall time); the goal is above 1: "
                         f"{'met' if ratio > 1 else 'not met'}.")
        tenon, fatbin = at[largest, targets, "tenon"], at[largest, targets, "fatbin"]
        lines.append(f"- {largest} kernels x {targets}: the .tnx has {tenon['file_bytes'] / fatbin['file_bytes']:.1f} times "
                     "the bytes of a fatbin of the same PTX; the difference is declarations and proved facts.")
    return lines


def machine_text(options):
    model = next((line.split(":", 1)[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")), "?")
    version = subprocess.run(["nvlink", "--version"], capture_output=True, text=True, check=True).stdout.split("\n")[-3:]
    commit = subprocess.run(["git", "-C", str(ROOT), "rev-parse", "--short", "HEAD"], capture_output=True, text=True,
                            check=False).stdout.strip()
    return [f"- {datetime.datetime.now(datetime.timezone.utc):%Y-%m-%d %H:%M} UTC, commit {commit}",
            f"- {os.cpu_count()} cores, {model}, {platform.system()} {platform.release()}; {' '.join(version).strip()}",
            f"- load when it began: {os.getloadavg()[0]:.1f} (more than the cores: shared with other work, so trust CPU "
            "time before wall time)",
            f"- `benchmarks/link/run.py --counts={options.counts} --targets={options.targets} --repeat={options.repeat}`,"
            " medians, interleaved"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--counts", default="1,100,1000,10000")
    parser.add_argument("--targets", default="1,4", help="numbers of targets, at most 4")
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--most-cubins", type=int, default=10000, help="leave nvlink out above so many kernels x targets: "
                        "ptxas needs minutes to make its objects")
    parser.add_argument("--results", type=pathlib.Path, default=ROOT / "benchmarks" / "results")
    options = parser.parse_args()
    os.environ["PATH"] += os.pathsep + os.environ.get("CUDA_HOME", "/usr/local/cuda") + "/bin"
    nvcc = shutil.which("nvcc")
    tenon_link = options.build.resolve() / "linker" / "tools" / "tenon-link"
    if not nvcc or not tenon_link.exists():
        sys.exit("run.py: needs nvcc and a built tenon-link (--build=DIR)")
    machine = machine_text(options)
    rows = []
    stem = options.results / f"link_{datetime.date.today():%Y_%m_%d}"
    options.results.mkdir(parents=True, exist_ok=True)
    for count in map(int, options.counts.split(",")):
        for targets in map(int, options.targets.split(",")):
            for row in run_size(count, TARGETS[:targets], options, nvcc, str(tenon_link)):
                rows.append(row)
                print(" ".join(f"{key}={value}" for key, value in row.items()), flush=True)
            with open(stem.with_suffix(".csv"), "w", newline="") as file:
                writer = csv.DictWriter(file, rows[0].keys())
                writer.writeheader()
                writer.writerows(rows)
            stem.with_suffix(".md").write_text(text_report(rows, machine))


if __name__ == "__main__":
    main()
