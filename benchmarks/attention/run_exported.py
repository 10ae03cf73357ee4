#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Races the forms of exported.py on the GPU of this machine: Tenon beside PyTorch, which is called as the form is written.

usage: benchmarks/attention/run_exported.py --programs=build/exported --output=DIR [--rounds=12] [--before=FOLDER] [--compiled=yes]

Results are compared with the same function in f32, in units of four times PyTorch's own error, or of an element's last place where
that has none. How they are timed: ../race/racing.py. Writes DIR/exported.csv.
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "race"))

import racing  # noqa: E402, puts what follows on the path
import torch  # noqa: E402
from measure import Tenon, Torch  # noqa: E402

import exported  # noqa: E402

TIMES_PEER, LAST_PLACE = 4, 2.0 ** -8


def as_tuple(made):
    return made if isinstance(made, tuple) else (made,)


def distance(found, wanted):
    if found.shape != wanted.shape or not torch.isfinite(found).all():
        return float("inf")
    return ((found.float() - wanted).norm() / wanted.norm()).item()


class Writing(Tenon):
    """A program that assigns to its caches: their contents are results, too."""
    def __init__(self, name, runtime, path, sets, scalars):
        super().__init__(name, runtime, path, sets, scalars)
        self.sets = sets

    def outputs(self, i):
        made = super().outputs(i)
        return made if len(made) > 1 else made + tuple(self.sets[i][1:3])


def measure(form, runtime, arguments):
    given = exported.given(form, torch.Generator("cuda").manual_seed(form.slots), "cuda")
    fresh = [x.clone() for x in given] if form.writes else given # before anybody has written to it
    exact = [x.float() if x.is_floating_point() else x for x in given]
    wanted = as_tuple(form.function(*exact))
    allowed = [max(TIMES_PEER * distance(own, exact), LAST_PLACE) for own, exact in zip(as_tuple(form.function(*given)), wanted)]

    if form.writes: # with what the caches hold then
        wanted, allowed = wanted + tuple(x.to(given[0].dtype).float() for x in exact[1:3]), allowed + [LAST_PLACE] * 2
    del exact

    def error_of(results):
        if len(results) != (1 if form.writes and len(results) == 1 else len(wanted)):
            return float("inf")
        return max(distance(found, exact) / most for found, exact, most in zip(results, wanted, allowed))

    def makers():
        for name, folder in (("tenon", arguments.programs), ("tenon before", arguments.before)):
            if folder:
                path = os.path.join(folder, form.name() + ".tenon")
                kind, tensors = (Writing, [x.clone() for x in fresh]) if form.writes else (Tenon, given)
                yield name, lambda name=name, path=path, kind=kind, tensors=tensors: kind(name, runtime, path, [tensors], [])
        yield "torch", lambda: Torch("torch", form.function, [given])
        if arguments.compiled:
            torch._dynamo.reset()
            compiled = torch.compile(form.function)
            yield "torch.compile", lambda: Torch("torch.compile", compiled, [given])
        half = torch.empty(form.read_bytes() // 2, dtype=torch.int8, device="cuda")
        to = torch.empty_like(half)
        yield racing.LIMIT, lambda: Torch(racing.LIMIT, to.copy_, [[half]])

    return racing.race(form, makers(), error_of, arguments.rounds, is_sustained=False)


if __name__ == "__main__":
    sys.exit(racing.main(__doc__.splitlines()[0], "exported", exported.SETS, measure, [("--before", ""), ("--compiled", "")]))
