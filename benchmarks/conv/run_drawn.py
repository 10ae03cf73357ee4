#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Races drawn convolutions (drawn.py) on the GPU of this machine: Tenon beside cuDNN, which PyTorch lets search for its best algorithm.

usage: benchmarks/conv/run_drawn.py --programs=FOLDER --output=DIR [--cases=FILE] [--rounds=5] [--seconds=300]

FOLDER: NAME.tenon of each case, and NAME.WORD.tenon of variants that are raced beside it. cuDNN has filters as it likes them: those of hwcf are turned for it
before. Every result is compared as a whole with what PyTorch computes in f32, of f32 in f64. Who takes longer than 20 ms is not timed. Writes DIR/drawn.csv.
"""
import argparse
import csv
import glob
import os
import sys
import time

BEGAN = time.monotonic()
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "race"))

import racing  # noqa: E402, puts what follows on the path
import torch  # noqa: E402

from drawn import case_of  # noqa: E402
from measure import Tenon, Torch  # noqa: E402
import tenon_capi as tenon  # noqa: E402

KINDS = {"f16": torch.float16, "bf16": torch.bfloat16, "f32": torch.float32, "tf32": torch.float32, "i8": torch.int8}
BOUNDS = {"f16": 2e-3, "bf16": 1e-2, "f32": 1e-4, "tf32": 2e-3, "i8": 4e-2}
SLOW_US = 2e4


def as_torch(case, tensor, letters):
    """Images [n, g c, places], filters [g k, c, window], with two places at least; a view where torch has the order, too."""
    window = "zyx"[-len(case.sizes):]
    is_filters = "n" not in letters
    first = [letter for letter in ("gk" if is_filters else "n") if letter in letters]
    second = [letter for letter in ("c" if is_filters else "gck") if letter in letters]
    last = list(window) if is_filters else [letter for letter in letters if letter in "dhw"]
    order = first + second + last
    tensor = tensor.permute([letters.index(letter) for letter in order])
    at = len(first)
    shape = tensor.shape
    joined = [1, 1] if is_filters else [0, 1]
    for number, group in enumerate((first, second)):
        joined[number] = 1
        for letter in group:
            joined[number] *= shape[order.index(letter)]
    return tensor.reshape(joined + ([1] if len(last) == 1 else []) + list(shape[at + len(second):]))


class Peer:
    def __init__(self, case):
        self.case = case
        pair = lambda values, one: ([one] if len(values) == 1 else []) + list(values)
        self.steps, self.around, self.dilations = pair(case.steps, 1), pair(case.around, 0), pair(case.dilations, 1)
        self.format = (torch.contiguous_format if case.layout == "nchw" else
                       torch.channels_last_3d if len(case.sizes) == 3 else torch.channels_last)

    def inputs(self, given, wide=None):
        image, filters, result = self.case.letters()
        letters = {"": [image, filters], "data": [result, filters], "filter": [image, result]}[self.case.gradient]
        kind = wide or (torch.bfloat16 if self.case.kind == "i8" else given[0].dtype)
        return [as_torch(self.case, tensor, each).to(kind).contiguous(memory_format=self.format) for tensor, each in zip(given, letters)]

    def call(self, first, second):
        case = self.case
        if not case.gradient:
            return torch.ops.aten.convolution(first, second, None, self.steps, self.around, self.dilations, False, [0] * len(self.steps), case.groups)
        image, filters, _ = case.letters()
        missing = torch.empty(case.three()[0 if case.gradient == "data" else 1], dtype=first.dtype, device="cuda")
        missing = as_torch(case, missing, image if case.gradient == "data" else filters)
        if not missing.is_contiguous() and not missing.is_contiguous(memory_format=self.format):
            missing = missing.contiguous(memory_format=self.format)
        by_data = case.gradient == "data"
        result, source, weights = (first, missing, second) if by_data else (second, first, missing)
        return torch.ops.aten.convolution_backward(result, source, weights, None, self.steps, self.around, self.dilations, False, [0] * len(self.steps),
                                                   case.groups, [by_data, not by_data, False])[0 if by_data else 1]

    def error(self, found, given):
        """Of the whole, in units of what it may be."""
        case = self.case
        of = case.letters()[{"": 2, "data": 0, "filter": 1}[case.gradient]]
        tf32, torch.backends.cudnn.allow_tf32, torch.backends.cudnn.benchmark = torch.backends.cudnn.allow_tf32, False, False
        exact = self.call(*self.inputs(given, torch.float64 if case.kind == "f32" else torch.float32)).float()
        torch.backends.cudnn.allow_tf32, torch.backends.cudnn.benchmark = tf32, True
        if case.kind == "i8":
            exact = (exact / 512).round().clamp(-128, 127)
        found = as_torch(case, found, of).float()
        error = (found - exact).norm() / exact.norm().clamp(min=1) / BOUNDS[case.kind]
        return float("inf") if not torch.isfinite(error) else error.item()


class Quick:
    """A participant that gives up where it is slow."""

    @staticmethod
    def of(participant):
        plain = participant.capture

        def capture(calls, sets):
            taken = min(participant.timed(lambda: participant.call(0)) for _ in range(2))
            if taken > SLOW_US:
                raise ValueError(f"slow: {taken:.0f} us")
            plain(2 if taken > 2000 else calls, sets)
        participant.capture = capture
        return participant


def measure(case, runtime, folder, rounds):
    generator = torch.Generator("cuda").manual_seed(len(case.name()))
    torch.backends.cudnn.benchmark, torch.backends.cudnn.allow_tf32 = True, case.kind == "tf32"
    if case.kind == "i8":
        given = [torch.randint(-9, 10, shape, generator=generator, device="cuda", dtype=torch.int8) for shape in case.shapes()]
    else:
        given = [torch.randn(shape, generator=generator, device="cuda").to(KINDS[case.kind]) for shape in case.shapes()]
    peer = Peer(case)
    makers = [("cudnn", lambda: Quick.of(Torch("cudnn", peer.call, [peer.inputs(given)])))]
    for path in sorted(glob.glob(os.path.join(folder, case.name() + ".*tenon"))):
        word = os.path.basename(path)[len(case.name()) + 1:-len(".tenon")] or "tenon"
        makers.insert(0 if word == "tenon" else len(makers), (word, lambda word=word, path=path: Quick.of(Tenon(word, runtime, path, [given], []))))
    shape = case.three()[{"": 2, "data": 0, "filter": 1}[case.gradient]]

    def judge(results):  # the peer may compute something else, and has dimensions in another order
        found = results[0]
        return peer.error(found, given) if tuple(found.shape) == shape and found.dtype == KINDS[case.kind] else 0
    return racing.race(case, makers, judge, rounds, False)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--programs", required=True)
    parser.add_argument("--output", required=True)
    parser.add_argument("--cases", default="")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=300)
    arguments = parser.parse_args()
    torch.set_grad_enabled(False)
    runtime = tenon.Runtime(os.path.join(arguments.programs, "libtenon_runtime.so"))
    if arguments.cases:
        names = open(arguments.cases, encoding="utf-8").read().split()
    else:
        names = sorted({os.path.basename(path).split(".")[0] for path in glob.glob(os.path.join(arguments.programs, "*.tenon"))})
    os.makedirs(arguments.output, exist_ok=True)
    with open(os.path.join(arguments.output, "drawn.csv"), "w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, racing.FIELDS)
        writer.writeheader()
        for name in names:
            if time.monotonic() - BEGAN > arguments.seconds:
                print(f"{name}: no time left")
                continue
            begin = time.monotonic()
            try:
                rows = measure(case_of(name), runtime, arguments.programs, arguments.rounds)
            except Exception as problem:  # pylint: disable=broad-except
                print(f"{name}: {str(problem).splitlines()[0][:200]}", flush=True)
                continue
            writer.writerows(rows)
            file.flush()
            of = {row["participant"]: row.get("burst_us") for row in rows}
            ratio = f"{of['cudnn'] / of['tenon']:.3f}x" if of.get("cudnn") and of.get("tenon") else "-"
            print(f"{name:70} {ratio:8} {'  '.join(racing.told(row) for row in rows)}  [{time.monotonic() - begin:.1f} s]", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
