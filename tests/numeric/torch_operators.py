#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""PyTorch's own tests of its operators, imported by IREE's tools, compiled and run here, against eager PyTorch.

usage: torch_operators.py --build=build [--filter=REGEX] [--types=f32,i64] [--form=static|dynamic|bigger|gradients]
                          [--first=2] [--more=1] [--jobs=1] [--checks=races,uninitialised] [--flags=...] [--keep=DIR]

The Python that runs it has torch, iree-base-compiler and iree-turbine; nothing else here needs them. `dynamic` leaves every size
unknown that PyTorch lets be, and calls with two sizes of each; `bigger` makes tensors of 17, 48 and 100 where the samples
have 5, 10 and 20; `gradients` compiles the gradients of a sample instead. What is wrong, a crash or a fault is kept in
KEEP/NAME.mlir, with NAME.txt. Exit status 1 when there was any of it; the importer may be wrong, too: IREE's own run tells.
"""
import argparse
import multiprocessing
import os
import re
import sys
import tempfile
import time
from collections import Counter

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("TENON_EMULATOR_QUIET", "1")
import numpy as np  # noqa: E402

import elements  # noqa: E402
import judge  # noqa: E402

PATIENCE = 180  # seconds without a word from a process
SLOW = 10  # seconds to compile
# Of eager PyTorch's result, or of the one in wider types: both round in their own order. Absolute ones are of inputs of about 1.
TOLERANCES = {"f32": (1e-4, 2e-5), "f64": (1e-7, 1e-7), "f16": (5e-3, 5e-3), "bf16": (4e-2, 4e-2)}
VERDICTS = ("right", "slow", "refused", "wrong", "fault", "crash", "not imported", "left out", "importer died")
FAILURES = ("wrong", "fault", "crash")


def close(kind, got, wanted, scale):
    relative, absolute = TOLERANCES[kind]
    large = 1e-2 * elements.LARGEST[kind]  # near the end of a type, one order of sums is inf and another is not
    with np.errstate(all="ignore"):
        return (np.isclose(got, wanted, rtol=relative, atol=absolute * scale, equal_nan=True) |
                ((np.abs(got) > large) & (np.abs(wanted) > large)))


def difference(call, results):
    """"" where the results are those of PyTorch."""
    inputs, expected, wider = call
    results = results[max(0, len(results) - len(expected)):]  # what is written into arguments comes first
    finite = [np.abs(values[np.isfinite(values)]) for kind, values in inputs if elements.is_float(kind)]
    scale = max([1.0] + [float(values.max()) for values in finite if values.size])
    if len(results) != len(expected):
        return f"{len(results)} results, wanted {len(expected)}"
    for number, ((kind, got), (wanted_kind, wanted)) in enumerate(zip(results, expected)):
        if kind != wanted_kind or got.shape != wanted.shape:
            return f"result {number} is {got.shape} {kind}, wanted {wanted.shape} {wanted_kind}"
        if elements.is_float(kind):
            good = close(kind, got, wanted, scale)
            if wider is not None and wider[number].shape == got.shape:
                good |= close(kind, got, wider[number], scale)
        else:
            wanted = elements.wrap(kind, wanted)
            good = got == wanted
        if not good.all():
            at = tuple(int(i) for i in np.argwhere(~good)[0])
            return (f"result {number}: {int((~good).sum())} of {good.size} elements differ; {list(at)}: got {got[at]!r}, "
                    f"wanted {wanted[at]!r}")
    return ""


class Runner:
    def __init__(self, options):
        self.options, self.device = options, None
        self.compiler = judge.Compiler(os.path.join(options.build, "compiler", "tools", "tenon-compile"), options.flags.split())
        self.folder = tempfile.mkdtemp(prefix="tenon_torch_")

    def run(self, program):
        """(verdict, detail)"""
        source, target = os.path.join(self.folder, "p.mlir"), os.path.join(self.folder, "p.tenon")
        with open(source, "w", encoding="utf-8") as file:
            file.write(program.text)
        begin = time.monotonic()
        status, said = self.compiler.compile(source, target)
        took = time.monotonic() - begin
        if status == 1 and "error: " in said and "bug in" not in said:
            return "refused", said.split("error: ", 1)[1].splitlines()[0]
        if status != 0:
            return "crash", f"tenon-compile: exit status {status}: {said[-600:]}"
        if self.device is None:
            self.device = judge.Device(judge.find_library(self.options.build), "emulator")
        opened = None
        try:
            opened = self.device.open(target)
            for call in program.calls:
                if said := difference(call, self.device.call(opened, "main", call[0])):
                    return "wrong", said
        except judge.tenon_capi.TenonError as error:
            return "fault", str(error)
        finally:
            if opened:
                opened.release()
        return ("slow", f"{took:.1f} s to compile") if took > SLOW else ("right", "")


def work(options, operators, pipe):
    """In a process of its own: says which sample it begins, and what became of it."""
    import torch
    import torch_programs
    torch.set_num_threads(1)
    if options.form == "bigger":
        torch_programs.use_bigger_sizes()
    runner = Runner(options)
    for name, kind, begin in operators:
        try:
            samples = torch_programs.samples_of(name, kind)
        except Exception as error:
            pipe.send(((name, kind, begin), "left out", f"no samples: {error}", ""))
            continue
        for number in torch_programs.chosen(len(samples), options.first, options.more, name):
            if number < begin:
                continue
            place, text = (name, kind, number), ""
            pipe.send((place, None, "", ""))
            try:
                program = torch_programs.program(samples[number], options.form)
                text = program.text
                verdict, detail = runner.run(program)
            except torch_programs.LeftOut as error:
                verdict, detail = "left out", str(error)
            except torch_programs.NotImported as error:
                verdict, detail = "not imported", str(error)
            pipe.send((place, verdict, detail, text if verdict in FAILURES else ""))
            if verdict == "fault":  # a device that failed stays so
                pipe.send((place, "again", "", ""))
                return
    pipe.send((None, "done", "", ""))


class Slot:
    """A process, and what it has still to do."""

    def __init__(self, options, operators):
        self.options, self.left, self.at = options, operators, None
        self.start()

    def start(self):
        self.pipe, other = multiprocessing.Pipe()
        self.process = multiprocessing.Process(target=work, args=(self.options, self.left, other), daemon=True)
        self.process.start()
        other.close()

    def behind(self, place):
        """Goes on behind a sample, in a process of its own."""
        self.process.kill()
        self.process.join()
        names = [entry[:2] for entry in self.left]
        self.left = self.left[names.index(place[:2]):]
        self.left[0] = (*place[:2], place[2] + 1)
        self.start()

    def next(self):
        """(place, verdict, detail, text), or nothing where all is done."""
        while True:
            try:
                answer = self.pipe.recv() if self.pipe.poll(PATIENCE) else (self.at, "importer died", "no answer", "")
            except (EOFError, ConnectionError):
                self.process.join()
                answer = self.at, "importer died", f"exit status {self.process.exitcode}", ""
            place, verdict, _, _ = answer
            if verdict == "done" or place is None:
                return None
            if verdict is None:
                self.at = place
                continue
            if verdict in ("importer died", "again"):
                self.behind(place)
            if verdict != "again":
                return answer


def serve(options, operators, answers):
    slot = Slot(options, operators)
    while (answer := slot.next()) is not None:
        answers.put(answer)
    answers.put(None)


def stable(message):
    """Without what differs from sample to sample, for counting."""
    named = re.search(r'name = \\?"([\w.]+)', message)
    return named[1] if named else re.sub(r"%\w+|\b\d+(x\d+)*\b|affine_map<\(.*?\)>", "_", message)[:120]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build")
    parser.add_argument("--filter", default="", help="regular expression of operators' names")
    parser.add_argument("--types", default="f32")
    parser.add_argument("--form", choices=("static", "dynamic", "bigger", "gradients"), default="static")
    parser.add_argument("--first", type=int, default=2, help="samples of each operator and type, from the first one on")
    parser.add_argument("--more", type=int, default=1, help="and as many of the others")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--flags", default="--target=sm_90a --images=ptx --cu-cache=none")
    parser.add_argument("--checks", default="", help="TENON_EMULATOR_CHECK, such as races,uninitialised")
    parser.add_argument("--keep", default="build/torch-operators")
    options = parser.parse_args()
    if options.checks:
        os.environ["TENON_EMULATOR_CHECK"] = options.checks
    os.environ.setdefault("TENON_EMULATOR_LIBRARY", os.path.abspath(os.path.join(options.build, "emulator", "libtenon_emulator.so")))
    multiprocessing.set_start_method("spawn")
    try:
        import torch_programs
    except ImportError as error:
        raise SystemExit(f"torch_operators.py: {error}: it needs torch, iree-base-compiler and iree-turbine") from error
    todo = [(name, kind, 0) for name in torch_programs.operators(options.form) if re.search(options.filter, name)
            for kind in options.types.split(",")]
    answers = multiprocessing.Queue()
    servers = [multiprocessing.Process(target=serve, args=(options, todo[slot::options.jobs], answers))
               for slot in range(options.jobs)]
    for server in servers:
        server.start()
    counts, why, running = Counter(), Counter(), len(servers)
    while running:
        answer = answers.get()
        if answer is None:
            running -= 1
            continue
        (name, kind, number), verdict, detail, text = answer
        counts[verdict] += 1
        if verdict not in ("right", "left out"):
            why[verdict, stable(detail)] += 1
        if verdict in FAILURES:
            print(f"{verdict}: {name} {kind} {number}: {detail[:600]}", flush=True)
            os.makedirs(options.keep, exist_ok=True)
            path = os.path.join(options.keep, re.sub(r"\W", "_", f"{name}_{kind}_{number}"))
            for end, content in ((".mlir", text), (".txt", detail)):
                with open(path + end, "w", encoding="utf-8") as file:
                    file.write(content)
    for (verdict, message), count in sorted(why.items(), key=lambda entry: (VERDICTS.index(entry[0][0]), -entry[1])):
        print(f"{count:6} {verdict}: {message}")
    print(f"{sum(counts.values())} samples: " + ", ".join(f"{counts[verdict]} {verdict}" for verdict in VERDICTS))
    return 1 if any(counts[verdict] for verdict in FAILURES) else 0


if __name__ == "__main__":
    sys.exit(main())
