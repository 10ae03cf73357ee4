# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Attentions, and gradients of attention, of sizes that nothing was tuned to: drawn once, from a seed that stands here, so that
everyone races the same."""
import random

from gradients import AttentionGradient
from shapes import Attention

DEPTHS = (16, 24, 32, 40, 48, 64, 64, 72, 80, 96, 112, 128, 128, 128, 160, 192, 256)
HEADS = (1, 2, 3, 5, 8, 12, 16, 20, 24, 32, 40, 71)
BATCHES = (1, 1, 2, 3, 4, 7, 8, 16, 33)
FEWEST, MOST = 2e8, 4e11  # operations: kernels of a few microseconds to one millisecond


def between(generator, least, most):
    """As often of any order of magnitude."""
    return round(least * (most / least) ** generator.random())


def length_of(generator):
    """Half of them whole tiles."""
    length = between(generator, 17, 12000)
    return length if generator.random() < 0.5 else max(64, length // 64 * 64)


def forward(generator):
    shared = generator.choice((1, 1, 1, 2, 4, 8))
    heads, depth = generator.choice([h for h in HEADS if h % shared == 0]), generator.choice(DEPTHS)
    mask = generator.choice(("", "causal"))
    length = length_of(generator)
    # Without a mask a third has other keys than queries, some of them for few queries.
    keys = length_of(generator) if mask == "" and generator.random() < 0.35 else 0
    if keys and generator.random() < 0.5:
        length = generator.choice((1, 2, 4, 7, 16, 33))
    return Attention(generator.choice(("bf16", "bf16", "f16")), generator.choice(BATCHES), heads, length, depth, mask, shared=shared, keys=0 if keys == length else keys)


def backward(generator):
    shared = generator.choice((1, 1, 1, 4))
    heads = generator.choice([h for h in HEADS if h % shared == 0])
    return AttentionGradient(generator.choice(("bf16", "bf16", "f16")), generator.choice(BATCHES), heads, length_of(generator), generator.choice([d for d in DEPTHS if d <= 128]),
                             generator.random() < 0.5, shared=shared)


def drawn(draw, seed, count):
    generator, cases = random.Random(seed), {}
    while len(cases) < count:
        case = draw(generator)
        if FEWEST <= case.operations() <= MOST:
            cases[case.name()] = case
    return list(cases.values())


SETS = {"random": drawn(forward, 20261130, 60), "random_backward": drawn(backward, 20261130, 30)}
