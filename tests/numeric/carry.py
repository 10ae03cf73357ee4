# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random programs that are compiled here and run where there is no compiler: one zip file.

Fifty seeds become one program, a function each, since most of the time of a small compilation goes into starting. `index.json`
says which text each seed had, so that a NumPy that draws other numbers is noticed, and what was refused.
"""
import hashlib
import json
import multiprocessing
import os
import tempfile
import zipfile

import judge
from draws import random_program

TOGETHER = 50


def name_of(seed):
    return f"run_{seed}"


def digest(program):
    return hashlib.sha256(program.text().encode()).hexdigest()[:16]


def compile_share(task):
    """One process's part of compile_all: (share, digests by seed, refused by seed, crashed by seed, bytes)."""
    share, seeds, options, folder = task
    random_program.CLASSES = tuple(options["classes"] or random_program.CLASSES)
    compiler = judge.Compiler(options["compiler"], options["flags"], 600)
    source, target = (os.path.join(folder, f"{os.getpid()}.{end}") for end in ("mlir", "tenon"))
    programs = {seed: program for seed in seeds if (program := random_program.generate(seed)) is not None}
    functions = {name_of(seed): program.text(name_of(seed)) for seed, program in programs.items()}
    refused, crashed = ({int(name.split("_")[1]): message for name, message in found.items()}
                        for found in compiler.compile_functions(functions, source, target))
    digests = {seed: digest(program) for seed, program in programs.items() if seed not in refused and seed not in crashed}
    data = b""
    if digests:
        with open(target, "rb") as file:
            data = file.read()
    return share, digests, refused, crashed, data


def compile_all(seeds, options, target, jobs):
    index, crashed = {"classes": options["classes"] or random_program.CLASSES, "programs": {}, "refused": {}}, 0
    shares = {}
    for seed in seeds:
        shares.setdefault(seed // TOGETHER, []).append(seed)
    with zipfile.ZipFile(target, "w", zipfile.ZIP_LZMA) as out, tempfile.TemporaryDirectory() as folder, \
            multiprocessing.Pool(jobs) as pool:
        tasks = [(share, some, options, folder) for share, some in shares.items()]
        for share, digests, refused, crashes, data in pool.imap(compile_share, tasks):
            out.writestr(f"{share}.tenon", data)
            index["programs"].update(digests)
            index["refused"].update(refused)
            crashed += len(crashes)
            for seed, message in crashes.items():
                print(f"crash {seed}: {message}", flush=True)
        out.writestr("index.json", json.dumps(index))
    print(f"{target}: {len(index['programs'])} compiled, {len(index['refused'])} refused, {crashed} crashes; "
          f"{os.path.getsize(target) >> 20} MiB")
    return 1 if crashed else 0


class Compiled:
    """What compile_all made."""

    def __init__(self, file, folder):
        self.zip, self.folder = zipfile.ZipFile(file), folder
        self.index = json.loads(self.zip.read("index.json"))

    def missing(self, seed, program):
        """(verdict, detail) where there is nothing to run, else None."""
        wanted = self.index["programs"].get(str(seed))
        if wanted is None:
            return "refused", self.index["refused"].get(str(seed), "the compiler crashed on it, or it was not compiled")
        if wanted != digest(program):
            return "malformed", "this NumPy draws other numbers than the one that the programs were compiled with"
        return None

    def path(self, seed):
        """The program that the seed is a function of."""
        path = os.path.join(self.folder, f"{seed // TOGETHER}.tenon")
        if not os.path.exists(path):
            with open(path, "wb") as file:
                file.write(self.zip.read(f"{seed // TOGETHER}.tenon"))
        return path
