# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles a set of cases into a folder that is carried to the GPU machine, with the runtime's library.

A case has name() and, where its programs want some, flags() of tenon-compile; `program(case)` is its text in MLIR.
"""
import argparse
import glob
import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")


def copy_runtime(build, folder):
    for path in glob.glob(os.path.join(build, "runtime", "libtenon_runtime.so.*")):
        if os.path.isfile(path) and not os.path.islink(path) and not path.endswith(".p"):
            library = os.path.join(folder, "libtenon_runtime.so")
            shutil.copyfile(path, library)
            subprocess.run(["strip", library], check=False)


def main(description, name, sets, program):
    """@param name of the folder below the build's; @return the exit status"""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--build", default=os.path.join(ROOT, "build"))
    parser.add_argument("--output", default=os.path.join(ROOT, "build", name))
    parser.add_argument("--set", default="first", choices=sorted(sets))
    parser.add_argument("--target", default="sm_90a")
    parser.add_argument("flags", nargs="*", help="behind --: more flags of tenon-compile")
    arguments = parser.parse_args()
    os.makedirs(arguments.output, exist_ok=True)

    def compile_one(case):
        own = case.flags() if hasattr(case, "flags") else []
        source, target = (os.path.join(arguments.output, case.name() + suffix) for suffix in (".mlir", ".tenon"))
        text = program(case)  # which may be read from `source`
        with open(source, "w", encoding="utf-8") as file:
            file.write(text)
        done = subprocess.run([os.path.join(arguments.build, "compiler/tools/tenon-compile"), source, "-o", target, "--jobs=1",
                               "--target=" + arguments.target, *own, *arguments.flags], capture_output=True, text=True, check=False)
        return case.name(), done

    cases, failed = sets[arguments.set], 0
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for case, done in pool.map(compile_one, cases):
            if done.returncode != 0 or done.stderr:
                failed += done.returncode != 0
                print(f"{case}: {done.stderr.strip()[:300]}", file=sys.stderr)
    copy_runtime(arguments.build, arguments.output)
    print(f"{len(cases) - failed} of {len(cases)} programs compiled into {arguments.output}")
    return 1 if failed else 0
