# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Attention in every form (cases/attention/forms.py), on ragged lengths and numbers that are hard."""
import itertools

import numpy as np

import bounded
import elements
from cases.attention.forms import BATCHED, GUARDED, INPUTS, LAYOUTS, MASKS, SCALES, SOFTMAXES, Writer, drawn, reference
from cases.case import Case, Raw, argument, generator
from nodes.movement import Broadcast
from nodes.program import Program


def attention(layout, operand, scale, softmax, mask, inputs, lengths, depths, dynamic, many=False, few=False, heads=3, copies=0, together=0):
    """copies: so many of the result; together: of few queries, several groups that may share what a block reads, 2 to 4 with one operand that begins inside of a vector; many: elements of the batch enough that a large device has large tiles; few: queries, as the name of the case says;
    dynamic: which sizes the program does not know, all, none or "n", the keys' number."""
    dynamic = dynamic if "flat" not in layout else False
    size = dict(b=8 if many else 2, h=8 if many else heads, g=2, m=lengths[0], n=lengths[1], d=depths[0], e=depths[1])
    random = generator("attention", layout, operand, scale, softmax, mask, inputs, lengths, depths, many)
    tensors = drawn(random, layout, operand, size, inputs)
    given = [argument(operand, x, [c in dynamic for c in spec] if isinstance(dynamic, str) else dynamic) for x, spec in zip(tensors, LAYOUTS[layout])]
    if together > 1:
        given[together - 2].behind = 1
    if mask == "bias":
        given.append(argument(operand, elements.rounded(operand, random.uniform(-3, 3, (size["m"], size["n"]))), dynamic))
    elif mask in ("chosen", "chosen, none", "chosen, large", "causal and chosen"):
        seen = random.integers(0, 3, (size["b"], size["m"], size["n"])) > 0
        if mask == "chosen, none":
            seen[:, ::3] = False
        if mask == "chosen, large":  # rows whose first keys are all hidden, and one that sees none
            seen &= np.arange(size["n"])[None, None, :] >= (np.arange(size["m"]) % 4 * size["n"] // 4)[None, :, None]
            seen[:, -1] = False
        given.append(argument("i1", seen, dynamic))
    elif mask == "lengths":
        given.append(argument("i32", random.integers(0, size["n"] + 1, size["b"]), dynamic))

    def write(f, *arrays):
        return Writer(f, layout, operand, scale, softmax, mask, size).write(*arrays)

    def evaluate(q, k, v, extra=None):
        result, bound = reference(layout, operand, scale, softmax, mask, q.v, k.v, v.v, None if extra is None else extra.v)
        return bounded.finish(operand, result, bound, 2.0)

    def raw(q, k, v, extra=None):
        return reference(layout, operand, scale, softmax, mask, *[np.asarray(x, np.float64) for x in (q, k, v)], extra)[0]

    nodes = [*given, Raw([(i, 0) for i in range(len(given))], write, evaluate)]
    if copies:
        nodes.append(Broadcast((len(given), 0), [copies] + [size[c] for c in LAYOUTS[layout][4]], [0]))
    program = Program(nodes, [(len(nodes) - 1, 0)])
    name = f"attention {'of many ' if many else 'of few together ' if together else 'of few ' if few else ''}{layout}, {mask}, {softmax}, {inputs}{', repeated' if copies else ''}"
    return Case(name, operand, program, raw=None if copies else raw)


# Whole blocks of keys, ragged ones, one key, one query; depths that are whole, that are not, and ones for which no tensor core is.
LENGTHS = ((1, 1), (31, 31), (64, 64), (70, 130), (129, 64), (1, 257), (200, 33), (64, 80))
DEPTHS = ((64, 64), (128, 128), (32, 32), (40, 72), (192, 128), (80, 80), (256, 256), (7, 5))
FEW_LENGTHS = ((33, 70), (1, 1), (65, 31), (1, 129), (70, 64), (64, 80))
FEW_DEPTHS = ((32, 32), (64, 64), (40, 24), (7, 5))


def cases(sizes):
    whole = len(sizes) > 1
    kinds = ("f16", "bf16", "f32", "f64")
    lengths, depths = (LENGTHS, DEPTHS) if whole else (FEW_LENGTHS, FEW_DEPTHS)
    # Every form, with everything else in turn.
    turn = itertools.count()
    for number, (layout, scale, softmax, mask) in enumerate(itertools.product(BATCHED, SCALES, SOFTMAXES, MASKS)):
        if not whole and number % 47 != 0:
            continue
        t = next(turn)
        yield attention(layout, kinds[t % (4 if t % 3 == 0 else 2)], scale, softmax, mask, INPUTS[t % 5 if t % 4 == 0 else 0],
                        lengths[(t * 3) % len(lengths)], depths[t % len(depths)], t % 3 == 1)
    # Large tiles: one, whole blocks of keys, several, ragged ones.
    many = itertools.product(("bhmd", "grouped", "bmhd"), MASKS, ((70, 130), (33, 128), (129, 384), (1, 5), (150, 301)), ((64, 64), (128, 128), (128, 64)))
    for number, (layout, mask, length, depth) in enumerate(many):
        if number % (43 if whole else 111) == 0:
            yield attention(layout, kinds[number % 2], SCALES[number % 4], SOFTMAXES[number % 5], mask, INPUTS[number // 3 % 5], length, depth,
                            number % 7 == 3, many=True)
    # Tiles of 192 queries on sm_90a: consumers that have no rows in one, and those that see fewer blocks of keys than others.
    three = itertools.product(("causal", "none", "window", "lengths", "shifted causal", "causal, large"), ((300, 300), (257, 130), (321, 400)))
    for number, (mask, length) in enumerate(three):
        if whole or number in (0, 4, 7):
            yield attention(("bhmd", "bmhd")[number % 2], kinds[number % 2], "multiplied", "operation", mask, INPUTS[number % 6], length, (64, 64), False, many=True)
    # Large tiles of depths above 128.
    deep = itertools.product(((256, 256), (192, 128), (64, 256)), ("none", "causal", "bias", "window"), ((33, 130), (70, 70), (129, 301)))
    for number, (depth, mask, length) in enumerate(deep):
        if number % 2 == 0 if whole else number in (0, 4, 18):
            yield attention(("bhmd", "grouped", "bmhd")[number % 3], kinds[number % 2], "multiplied", "operation", mask, INPUTS[number // 2 % 6], length,
                            depth, number % 5 == 3, many=True)
    # Heads that share their keys, whose queries are no whole tiles: each head is computed for itself where the mask follows its queries.
    apart = itertools.product(("grouped", "packed grouped"), ("causal", "shifted causal", "window", "causal and chosen", "causal, large"),
                              ((130, 130), (200, 31), (321, 400), (65, 300)), ((64, 64), (128, 128), (192, 128), (40, 40)))
    for number, (layout, mask, length, depth) in enumerate(apart):
        if number % 3 == 0 if whole else number in (0, 27, 38, 57, 92, 118):
            yield attention(layout, kinds[number // 3 % 2], "multiplied", SOFTMAXES[number % 5], mask, "plain", length, depth, ("m", False, "mn", False)[number % 4], many=True)
    # Batches that are one axis, in the middle of tensors.
    for number, (mask, length, depth) in enumerate((("none", (197, 197), (64, 64)), ("causal", (70, 300), (80, 80)), ("window", (150, 129), (128, 128)), ("bias", (64, 64), (64, 64)))):
        if whole or number < 2:
            yield attention("middle", kinds[number % 2], "multiplied", "operation", mask, INPUTS[number % 6], length, depth, number == 2, many=True)
    # Large tiles of depths that are multiples of eight: less than a tile of 64, or a last one that has some, a single sixteen or half of one.
    eights = itertools.product(((80, 80), (40, 40), (72, 72), (96, 112), (160, 160), (8, 24), (56, 64), (136, 248), (200, 40), (128, 88)),
                               (("none", (70, 130)), ("causal", (260, 129)), ("chosen, large", (150, 301)), ("lengths", (33, 257))))
    for number, (depth, (mask, length)) in enumerate(eights):
        if whole or number % 5 == 0:
            yield attention(("bhmd", "grouped", "bmhd")[number % 3], kinds[number // 4 % 2], "multiplied", SOFTMAXES[number % 5], mask, INPUTS[number % 6], length,
                            depth, (False, "n", True, False)[number % 4], many=True)
    # So few causal tiles that a consumer is alone in its block on sm_90a, and so many that two or three are together.
    alone = itertools.product(("causal", "causal and chosen", "shifted causal", "causal, large", "causal, added"), ((70, 70), (129, 384), (200, 31), (260, 260)), ((64, 64), (128, 80), (40, 64)))
    for number, (mask, length, depth) in enumerate(alone):
        if whole or number % 13 == 0:
            yield attention(("bhmd", "grouped", "bmhd")[number % 3], kinds[number % 2], "multiplied", SOFTMAXES[number % 5], mask, INPUTS[number % 6], length, depth,
                            "n" if number % 4 == 1 else False, many=True)
    # What is added to hide keys, a large number or -inf; rows that see none, of which all keys count alike, or nothing is.
    for number, (mask, length) in enumerate(itertools.product(("causal, added large", "late, added large", "late, added"), ((70, 70), (260, 301), (300, 129)))):
        if whole or number % 3 == 1:
            yield attention(("bhmd", "grouped", "bmhd")[number % 3], kinds[number % 2], "multiplied", "operation", mask, INPUTS[number % 6], length, ((64, 64), (80, 80))[number % 2],
                            False, many=True)
    # Blocks of keys that a finite number hides wholly, in front of others.
    for number, (kind, mask, length) in enumerate(itertools.product(kinds, ("window, large", "chosen, large"), ((200, 200), (70, 300)))):
        if whole or number % 3 == 0:
            yield attention("bmd", kind, "multiplied", "operation", mask, "plain", length, (64, 64), False)
    for number, mask in enumerate(("window, large", "chosen, large")):
        yield attention("bhmd", kinds[number], "multiplied", "steps", mask, "plain", ((200, 200), (64, 300))[number], (64, 64), False, many=True)
    # Few queries: warps and blocks share the keys, some of which have none.
    few = itertools.product(("bhmd", "grouped", "bmhd", "repeated"), MASKS, ((1, 1), (1, 31), (2, 64), (1, 300), (5, 1031), (3, 2048)),
                            ((64, 64), (128, 128), (64, 128), (32, 64)))
    for number, (layout, mask, length, depth) in enumerate(few):
        if number % (13 if whole else 37) == 0:
            yield attention(layout, kinds[number % 2], SCALES[number % 4], SOFTMAXES[number % 7], mask, INPUTS[number // 3 % 6], length, depth,
                            number % 5 == 3, few=True)
    # Many keys, whose blocks leave parts: tiles of 16 queries, and several.
    parts = (("bmd", "none", "plain", (1, 6000), (64, 64), False), ("bmd", "chosen, none", "dominating key", (2, 5401), (64, 128), False),
             ("one head of keys", "causal and chosen", "plain", (11, 6001), (64, 64), False), ("bmd", "lengths", "growing keys", (9, 4097), (128, 64), "n"),
             ("bmd", "bias", "times 8", (17, 3000), (128, 128), False), ("bhmd", "window", "large", (3, 5200), (96, 128), False),
             ("grouped", "chosen, large", "constant rows", (1, 6200), (64, 64), False), ("bmd", "none", "plain", (3, 200), (64, 64), "n"),
             # Two warps that read the same keys; depths and columns that steps are not whole of, or that take more warps.
             ("bmd", "chosen, none", "plain", (71, 1100), (64, 64), False), ("bmd", "none", "dominating key", (1, 1031), (80, 72), False),
             ("bmd", "bias", "plain", (11, 1030), (136, 136), False), ("bmd", "causal", "plain", (128, 1025), (128, 128), False),
             ("bmd", "lengths", "growing keys", (8, 500), (256, 256), "n"), ("one head of keys", "window", "times 8", (16, 2047), (192, 256), False))
    for number, (layout, mask, inputs, length, depth, dynamic) in enumerate(parts):
        if whole or number in (1, 2, 3, 8, 9, 10):
            yield attention(layout, kinds[number % 2], "multiplied", SOFTMAXES[number % 5], mask, inputs, length, depth, dynamic, few=True, heads=2)
    # Keys that groups of queries read from shared memory on sm_90a: steps that are just full, a key more and one less, of one slice of warps alone,
    # and more than there are stages; rows that are whole groups, and not.
    together = ((5, (64, 64)), (8, (128, 128)), (16, (64, 64)), (17, (64, 128)), (32, (128, 64)), (33, (64, 64)), (64, (64, 64)), (71, (80, 72)), (9, (136, 136)),
                (16, (32, 32)), (40, (8, 8)), (32, (128, 128)), (12, (256, 256)))
    keys = (1, 63, 64, 65, 127, 128, 129, 255, 257, 1024, 1152, 1279, 2049)
    for number, ((rows, depth), n) in enumerate(itertools.product(together, keys)):
        if (rows <= 16 or n >= 1024) if whole else number in (29, 32, 62, 74, 125, 139):
            yield attention(("bmd", "one head of keys", "bhmd", "bmd")[number % 4], kinds[number % 2], "multiplied", SOFTMAXES[number % 5], MASKS[number * 5 % len(MASKS)],
                            INPUTS[number % 6], (rows, n), depth, "n" if number % 3 == 0 else False, few=True, heads=1 + number % 2, together=1 + number % 4)
    # Queries that see no key, whose result is 0, in each kernel: few queries, tiles of 64, large ones, no tensor core.
    guarded = itertools.product(kinds, ("chosen, none", "lengths"), GUARDED, (((2, 70), (64, 64), "few"), ((70, 130), (64, 64), ""), ((129, 128), (64, 128), "many"), ((33, 31), (7, 5), "")))
    for number, (kind, mask, softmax, (length, depth, tiles)) in enumerate(guarded):
        if whole or (number % 3 == 0 and not (tiles == "many" and kind in ("f32", "f64"))):
            yield attention(("bhmd", "bmhd", "grouped")[number % 3], kind, "multiplied", softmax, mask, INPUTS[number % 6], length, depth,
                            number % 5 == 3, many=tiles == "many", few=tiles == "few")
    # Keys that lie across their depth, of tiles of 128 queries whose blocks have 32 keys: of rows that the program does not know, and of many tiles.
    across = itertools.product((("bmn", (70, 70)), ("bm", (129, 33))), ((72, 72), (128, 128), (96, 40), (64, 128)), MASKS[:2])
    for number, ((dynamic, length), depth, mask) in enumerate(across):
        if whole or number % 5 == 0:
            yield attention("transposed keys", kinds[number % 2], "multiplied", SOFTMAXES[number % 7], mask, INPUTS[number % 6], length, depth, dynamic)
    # Results that are copied for another batch, each of which would be stored several times.
    for kind, length, depth, tiles in (("f32", (29, 3), (64, 20), ""), ("f16", (33, 70), (64, 64), ""), ("bf16", (2, 300), (64, 64), "few")):
        yield attention("bmd", kind, "multiplied", "operation", "none", "plain", length, depth, False, few=tiles == "few", copies=3)
    # Lengths and depths of each type, and numbers that are hard.
    for number, (kind, length, depth) in enumerate(itertools.product(kinds, LENGTHS, DEPTHS)):
        if not whole and number % 31 != 0:
            continue
        yield attention("bhmd", kind, "multiplied", "operation", MASKS[number % 2], "plain", length, depth, number % 5 == 0)
    for number, (kind, inputs, mask) in enumerate(itertools.product(kinds, INPUTS, ("none", "causal and chosen", "causal", "window"))):
        if not whole and number % 9 != 0:
            continue
        yield attention("bmd", kind, "multiplied", "operation", mask, inputs, (150, 150) if whole else (65, 130), (64, 64) if whole else (32, 32),
                        False)
