#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles every case of cases.py, with fixed and with unknown sizes, into a folder that is carried to the GPU machine.

usage: benchmarks/memory_bound/compile.py [--build=build] [--output=build/memory_bound] [--target=sm_90a] [--set=full]

Writes OUTPUT/NAME.tenon for what compiles, OUTPUT/programs.json that says of every case which file it is or why
tenon-compile refused it, and OUTPUT/libtenon_runtime.so. Nothing is left out of programs.json.
"""
import argparse
import glob
import json
import os
import shutil
import subprocess
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import programs  # puts scripts/ on the path
from cases import case_name, cases, dynamic_name


def compile_one(arguments, name, text):
    source, target = (os.path.join(arguments.output, name + suffix) for suffix in (".mlir", ".tenon"))
    with open(source, "w", encoding="utf-8") as file:
        file.write(text)
    if os.path.exists(target):
        os.remove(target)
    begin = time.monotonic()
    command = [os.path.join(arguments.build, "compiler/tools/tenon-compile"), source, "-o", target, "--jobs=1"]
    command += ["--target=" + arguments.target] if arguments.target else []
    try:
        done = subprocess.run(command + arguments.flags, capture_output=True, text=True, timeout=arguments.timeout)
        status, said = done.returncode, done.stderr
    except subprocess.TimeoutExpired:
        status, said = -1, f"tenon-compile took more than {arguments.timeout} s"
    seconds = round(time.monotonic() - begin, 3)
    if status == 0 and os.path.exists(target):
        if not arguments.keep_mlir:
            os.remove(source)
        return {"file": name + ".tenon", "seconds": seconds}
    errors = [line.split("error: ", 1)[1] for line in said.splitlines() if "error: " in line]
    if status < 0 or not errors:
        return {"crashed": f"exit status {status}: {said[-300:]}", "seconds": seconds}
    return {"refused": errors[0], "seconds": seconds}


def main():
    root = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default=os.path.join(root, "build"), help="build folder with the tools")
    parser.add_argument("--output", default=os.path.join(root, "build", "memory_bound"))
    parser.add_argument("--target", default="sm_90a", help="architectures for tenon-compile; empty: its default")
    parser.add_argument("--set", default="full", choices=["first", "full", "smoke", "everyday", "uncommon", "users", "misses", "random"])
    parser.add_argument("--seed", type=int, default=29, help="of --set=random")
    parser.add_argument("--count", type=int, default=80, help="groups of --set=random")
    parser.add_argument("--filter", default="", help="only operations that are named here, separated by commas")
    parser.add_argument("--sizes", default="fixed,unknown", help="of programs: fixed, unknown or both")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--timeout", type=int, default=120, help="seconds for one program")
    parser.add_argument("--keep-mlir", action="store_true", help="keep the sources of what compiles")
    parser.add_argument("flags", nargs="*", help="behind --: more flags of tenon-compile")
    arguments = parser.parse_args()
    os.makedirs(arguments.output, exist_ok=True)

    wanted = {}
    only = set(filter(None, arguments.filter.split(",")))
    for case in cases(arguments.set, arguments.seed, arguments.count):
        if only and case.operation not in only:
            continue
        if "fixed" in arguments.sizes:
            wanted[case_name(case)] = (case, False)
        if "unknown" in arguments.sizes:
            wanted.setdefault(dynamic_name(case), (case, True))
    with ThreadPoolExecutor(arguments.jobs) as pool:
        work = {name: pool.submit(compile_one, arguments, name, programs.program(case, dynamic))
                for name, (case, dynamic) in wanted.items()}
        answers = {name: future.result() for name, future in work.items()}
    with open(os.path.join(arguments.output, "programs.json"), "w", encoding="utf-8") as file:
        json.dump(answers, file, indent=1, sort_keys=True)

    libraries = [path for path in glob.glob(os.path.join(arguments.build, "runtime", "libtenon_runtime.so.*"))
                 if os.path.isfile(path) and not os.path.islink(path)]
    if libraries:
        library = os.path.join(arguments.output, "libtenon_runtime.so")
        shutil.copyfile(libraries[0], library)
        subprocess.run(["strip", library], check=False)
    else:
        print("no libtenon_runtime.so in the build folder: build runtime/libtenon_runtime.so.*", file=sys.stderr)
    compiled = sum("file" in answer for answer in answers.values())
    print(f"{compiled} of {len(answers)} programs compiled into {arguments.output}")
    for message, count in Counter(answer["refused"] for answer in answers.values() if "refused" in answer).most_common():
        print(f"  refused {count}: {message}")
    for name, answer in sorted(answers.items()):
        if "crashed" in answer:
            print(f"  CRASHED {name}: {answer['crashed']}")
    return 1 if any("crashed" in answer for answer in answers.values()) else 0


sys.exit(main())
