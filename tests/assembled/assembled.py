#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Assembles the kernels of products and attention in every configuration, and refuses what costs time without a word: registers
that spill, memory of a thread's own, and what ptxas warns of (C75xx: instructions of tensor cores one after the other).

usage: assembled.py --build=build [--ptxas=PATH] [--filter=REGEX] [--list]

Exit status 1 where a kernel is not clean, where a case makes the strategies choose something else than it is there for, or
where what exceptions.py excuses is clean by now; 77, which Meson counts as skipped, where there is no ptxas.
"""
import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

from cases import HIGH_TILE, WARPGROUP_TILES, cases
from exceptions import EXCEPTIONS

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
SKIPPED = 77


def find_ptxas(named):
    beside = [os.path.join(os.environ[name], "bin", "ptxas") for name in ("CUDA_HOME", "CUDA_PATH") if name in os.environ]
    for path in [named, *beside, shutil.which("ptxas"), "/usr/local/cuda/bin/ptxas"]:
        if path and os.access(path, os.X_OK):
            return path
    return None


def tiles_of_hopper():
    """The tiles that the strategy knows, from its table."""
    with open(os.path.join(ROOT, "compiler/codegen/strategies/products/plans/tiles/contraction_tiles.cpp"), encoding="utf-8") as file:
        table = re.search(r"kWarpgroupTiles\[\] = \{(.*?)\};", file.read(), re.S)
    return {(int(rows), int(columns)) for rows, columns in re.findall(r"\{(\d+), (\d+), ", table.group(1))}


def compile_together(build, folder, group):
    """Kernels of all cases of one target and with the same flags, as PTX and as what was chosen for them."""
    module = os.path.join(folder, "module.mlir")
    with open(module, "w", encoding="utf-8") as file:
        file.write("".join(case.text for case in group))
    done = subprocess.run([os.path.join(build, "compiler/tools/tenon-compile"), module, "-o", os.devnull, "--images=ptx", "--cu-cache=none",
                           "--jobs=1", "--target=" + group[0].target, *group[0].flags, "--dump-kernels-to=" + folder,
                           "--iree-hal-dump-executable-sources-to=" + folder], capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"the module of {group[0].name} and others does not compile:\n{done.stderr}")


def strategies_of(folder, case):
    found = []
    for name in sorted(os.listdir(folder)):
        if re.fullmatch(re.escape(case.name) + r"_dispatch_\d+\.mlir", name):
            with open(os.path.join(folder, name), encoding="utf-8") as file:
                found += [dict(re.findall(r'(\w+) = "?(\w+)', each)) for each in re.findall(r"tenon\.strategy = \{([^}]*)\}", file.read())]
    return found


def kernels_of(folder, case):
    names = [name for name in sorted(os.listdir(folder)) if re.fullmatch(re.escape(case.name) + r"_dispatch_\d+_\w+\.ptx", name)]
    return [os.path.join(folder, name) for name in names]


def what_is_wrong(messages):
    """Bytes that spill or lie in memory of the thread's own, the most of any kernel; lines that say something else."""
    spilled = max((int(size) for size in re.findall(r"(\d+) bytes (?:stack frame|spill stores|spill loads)", messages)), default=0)
    warned = [line for line in messages.splitlines() if re.search(r"C75\d\d|warning|error", line)]
    return spilled, warned


def check(case, folder, assembled):
    """@return what is wrong with the case, as lines"""
    wanted = {name: str(value) for name, value in case.choice}
    chosen = strategies_of(folder, case)
    if not any(wanted.items() <= each.items() for each in chosen):
        return [f"no kernel was chosen as {wanted}, but as {chosen}: give the case sizes for which it is"]
    lines, used, spilled = [], False, 0
    for path in kernels_of(folder, case):
        with open(path, encoding="utf-8") as file:
            used = used or case.instruction in file.read()
        done = assembled[path].result()
        bytes_here, warned = what_is_wrong(done.stderr)
        spilled = max(spilled, bytes_here)
        lines += warned
        if done.returncode and not warned:
            lines.append(done.stderr.strip())
    if not used:
        lines.append(f"no kernel has {case.instruction}")
    most, reason = EXCEPTIONS.get(case.name, (0, ""))
    if spilled > most:
        lines.append(f"{spilled} bytes of a thread's registers go to memory" + (f", and {most} are excused: {reason}" if most else ""))
    if most and not spilled:
        lines.append("nothing spills any more: take it out of exceptions.py")
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default=os.path.join(ROOT, "build"))
    parser.add_argument("--ptxas")
    parser.add_argument("--filter", default="")
    parser.add_argument("--list", action="store_true", help="print the cases and what spills in them")
    arguments = parser.parse_args()
    ptxas = find_ptxas(arguments.ptxas)
    if not ptxas:
        print("skipped: no ptxas in CUDA_HOME, CUDA_PATH, PATH or /usr/local/cuda")
        return SKIPPED
    every = list(cases())
    failed = [f"exceptions.py excuses '{name}', which is no case" for name in EXCEPTIONS.keys() - {case.name for case in every}]
    known = {*WARPGROUP_TILES, HIGH_TILE}
    if tiles_of_hopper() != known:
        failed.append(f"the strategy has tiles {sorted(tiles_of_hopper())}, cases.py {sorted(known)}")
    groups = {}
    for case in every:
        if re.search(arguments.filter, case.name):
            groups.setdefault((case.target, case.flags), []).append(case)
    with tempfile.TemporaryDirectory() as root, ThreadPoolExecutor(os.cpu_count()) as pool:
        folders, assembled = {}, {}
        for number, (key, group) in enumerate(groups.items()):
            folders[key] = os.path.join(root, str(number))
            os.mkdir(folders[key])
            compile_together(arguments.build, folders[key], group)
            for case in group:
                for path in kernels_of(folders[key], case):
                    assembled[path] = pool.submit(subprocess.run, [ptxas, "-v", "-arch=" + case.target, path, "-o", os.devnull],
                                                  capture_output=True, text=True, check=False)
        for key, group in groups.items():
            for case in group:
                lines = check(case, folders[key], assembled)
                failed += [f"{case.name}: {line}" for line in lines]
                if arguments.list:
                    found = [what_is_wrong(assembled[path].result().stderr)[0] for path in kernels_of(folders[key], case)]
                    print(case.name, found)
    print("\n".join([*failed, f"{sum(map(len, groups.values()))} cases, {len(assembled)} kernels, {len(EXCEPTIONS)} excused, {len(failed)} wrong"]))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
