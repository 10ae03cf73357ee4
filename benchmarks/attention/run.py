#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Races attention on the GPU of this machine: Tenon beside cuDNN and FlashAttention as PyTorch calls them, and flex_attention.

usage: benchmarks/attention/run.py --programs=build/attention --output=DIR [--set=first] [--rounds=12] [--seconds=300] [--peers=...] [--before=FOLDER]

Results are compared with float64, a few heads of each, in units of what rounding may do. How they are timed: ../race/racing.py.
Writes DIR/attention.csv.
"""
import math
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "race"))

import racing  # noqa: E402, puts what follows on the path
import torch  # noqa: E402
from torch.nn.attention import SDPBackend, sdpa_kernel  # noqa: E402
from torch.nn.attention.bias import causal_lower_right  # noqa: E402
from torch.nn.attention.flex_attention import create_block_mask, flex_attention  # noqa: E402

import documents  # noqa: E402
import gradients  # noqa: E402
import random_shapes  # noqa: E402
from measure import Tenon, Torch  # noqa: E402
from measure_documents import measure_documents  # noqa: E402
from measure_gradients import measure_gradient  # noqa: E402
from reference import KINDS, error_of, operands_of, scores_of  # noqa: E402
from shapes import SETS  # noqa: E402


def heads_of(case, q, k, v):
    """As PyTorch has them: four dimensions."""
    return q.reshape(case.batch, case.heads, case.length, case.depth), k, v


def backend(case, which):
    def run(q, k, v):
        # Peers take other values than keys only as queries of one head.
        given = (q.reshape(k.shape[0], k.shape[1], -1, case.depth), k, v) if case.columns else heads_of(case, q, k, v)
        with sdpa_kernel(which):
            mask = causal_lower_right(case.length, case.key_count()) if case.mask == "last" else None
            made = torch.nn.functional.scaled_dot_product_attention(*given, attn_mask=mask, is_causal=case.mask == "causal", enable_gqa=case.shared > 1 and not case.columns)
        return made.reshape(*q.shape[:-1], v.shape[-1])
    return run


def products(case):
    """The same in three kernels, which store the scores."""
    def run(q, k, v):
        rows = q.reshape(k.shape[0], k.shape[1], -1, case.depth)
        weights = torch.softmax((rows @ k.mT).float() / math.sqrt(case.depth), -1).to(q.dtype)
        return (weights @ v).reshape(*q.shape[:-1], v.shape[-1])
    return run


def flexible(case):
    """flex_attention, compiled."""
    torch._dynamo.reset()  # behind eight sizes it gives up and runs what is not compiled
    compiled = torch.compile(flex_attention)
    mask = None
    if case.mask in ("causal", "last"):
        after = case.key_count() - case.length if case.mask == "last" else 0
        mask = create_block_mask(lambda b, h, row, key: row + after >= key, None, None, case.length, case.key_count(), device="cuda")
    score = None if case.mask in ("", "causal", "last") else lambda s, b, h, row, key: scores_of(case, s, h, row, key)

    def run(q, k, v):
        made = compiled(*heads_of(case, q, k, v), score_mod=score, block_mask=mask, enable_gqa=case.shared > 1)
        return made.reshape(q.shape)
    return run


def racers_of(case, runtime, folder, before, given, inputs, peers):
    """A name, and what makes the participant."""
    own = [x.view(torch.int8) if x.element_size() == 1 else x for x in given]
    inputs = [x.to(KINDS[case.wide()]) for x in inputs]  # peers multiply no f8: they are given the same numbers
    for name, programs in (("tenon", folder), ("tenon before", before)):
        path = os.path.join(programs, case.name() + ".tenon")
        if name == "tenon" or (before and os.path.exists(path)):
            yield name, lambda name=name, path=path: Tenon(name, runtime, path, [own], [])
    if case.mask in ("", "causal", "last"):
        for name, which in (("cudnn", SDPBackend.CUDNN_ATTENTION), ("flash", SDPBackend.FLASH_ATTENTION), ("efficient", SDPBackend.EFFICIENT_ATTENTION)):
            if name in peers:
                yield name, lambda name=name, which=which: Torch(name, backend(case, which), [inputs])
    if "products" in peers:
        yield "products", lambda: Torch("products", products(case), [inputs])
    if case.length == 1:  # what copying as many bytes takes, read and written ones together
        half = torch.empty(case.read_bytes() // 2, dtype=torch.int8, device="cuda")
        to = torch.empty_like(half)
        yield racing.LIMIT, lambda: Torch(racing.LIMIT, to.copy_, [[half]])
    if "flex" in peers:
        yield "flex", lambda: Torch("flex", flexible(case), [inputs])


def measure(case, runtime, arguments):
    if isinstance(case, gradients.AttentionGradient):
        return measure_gradient(case, runtime, arguments)
    if isinstance(case, documents.Documents):
        return measure_documents(case, runtime, arguments)
    generator = torch.Generator("cuda").manual_seed(case.length * 31 + case.depth)
    given, inputs = operands_of(case, [torch.randn(shape, generator=generator, device="cuda") for shape in case.shapes()])
    makers = racers_of(case, runtime, arguments.programs, arguments.before, given, inputs, arguments.peers.split(","))
    return racing.race(case, makers, lambda results: error_of(case, results[0], inputs), arguments.rounds, is_sustained=True)


if __name__ == "__main__":
    sys.exit(racing.main(__doc__.splitlines()[0], "attention", SETS | gradients.SETS | documents.SETS | random_shapes.SETS, measure, [("--peers", "cudnn,flash,flex"), ("--before", "")]))
