# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Assembles every .ptx below a folder with ptxas for its own .target (sm_75 where ptxas no longer has it).

usage: assemble_all.py FOLDER TARGETS: fails unless TARGETS different .target lines were seen
"""
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor


def assemble(path, arch):
    return subprocess.run(["ptxas", "-arch=" + arch, path, "-o", os.devnull], capture_output=True, text=True)


def main(folder, wanted):
    refused, targets, jobs = 0, set(), []
    names = sorted(name for name in os.listdir(folder) if name.endswith(".ptx"))
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for name in names:
            path = os.path.join(folder, name)
            with open(path) as file:
                text = file.read()
            target = re.search(r"^\.target (sm_\w+)", text, re.M).group(1)
            targets.add(target)
            if ".extern .func" in text:
                print(f"{name}: calls a function that is not there")
                refused += 1
            arch = target if int(re.search(r"\d+", target).group()) >= 75 else "sm_75"
            jobs.append(pool.submit(assemble, path, arch))
    for name, job in zip(names, jobs):
        done = job.result()
        if done.returncode or "C75" in done.stderr:
            print(f"{name}: {done.stderr.strip()}")
            refused += 1
    print(f"{len(names)} files, {refused} refused")
    return 0 if names and len(targets) == int(wanted) else 1


sys.exit(main(*sys.argv[1:]))
