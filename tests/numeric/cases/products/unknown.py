# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Products of which the program does not know one size, or any: it has a few kernels, and sizes lie on both sides of the numbers by
which it chooses one (compiler/codegen/strategies/products/plans/unknown_sizes.h), and where tiles and vectors end."""
from cases.products import f8
import elements
from cases.case import Case, argument, generator
from cases.products.contraction import BATCH, biased, biased_relu, contract, contracted, one

KINDS = (("bf16", "f32"), ("f32", "f32"), ("f64", "f64"), ("f16", "f32"), ("i8", "i32"))
# Of few rows and tiles: sums are long, so that clusters take them apart. Sizes of i, j and k; the lists are those that are unknown.
ROWS = (1, 8, 9, 16, 17, 32, 33, 64, 65, 80, 129, 0)
FORMS = (("ik,jk->ij", {"i": ROWS, "j": 136, "k": 1096}), ("ki,kj->ij", {"i": 70, "j": ROWS, "k": 1032}), ("ik,kj->ij", {"i": ROWS, "j": 75, "k": 1031}),
         ("ki,jk->ij", {"i": ROWS, "j": 136, "k": 1040}), ("ik,jk->ij", {"i": 102, "j": 136, "k": (0, 1, 60, 64, 511, 512, 513, 1024, 1728, 1729, 2056)}),
         ("bik,bjk->bij", {"b": (0, 1, 2, 3), "i": 70, "j": 72, "k": 1048}), ("bik,bkj->bij", {"i": ROWS[:9], "j": 72, "k": 528}),
         ("ik,jk->ji", {"i": ROWS, "j": 72, "k": 1100}))
# Of so many rows, or columns, that no tile lacks some: without tensor cores, and of f64, nobody asks for each of them then.
WHOLE_TILES = (("ik,jk->ij", {"i": (384, 385, 390, 513), "j": 260, "k": 264}), ("ik,jk->ij", {"i": (448, 449, 463, 577), "j": 72, "k": 520}),
               ("ki,kj->ij", {"i": 40, "j": (960, 961, 1001, 1025), "k": 520}))
# All are unknown: rows, columns, reduced elements.
ANY = ((70, 136, 64), (70, 136, 512), (70, 136, 513), (33, 72, 2048), (33, 72, 2049), (65, 129, 2056), (1, 300, 2056), (200, 260, 600), (40, 0, 64), (70, 72, 0),
       (260, 1030, 40))
# Rows that are no multiples of 16 bytes, or begin anywhere: lines of tiles are shifted (compiler/codegen/contraction/operands/shifted_lines.h). Steps
# have 64 reduced elements, of tf32 32, of bytes 128.
LINES = ((70, 131, 67), (129, 130, 200), (33, 197, 129), (64, 64, 1), (200, 67, 385))


def sized(spec, sizes):
    """(sizes, letters that are unknown) of each case of a form."""
    unknown = [c for c, size in sizes.items() if isinstance(size, tuple)]
    for size in sizes[unknown[0]]:
        yield {**BATCH, **sizes, unknown[0]: size}, unknown


def pair(spec, kind, size, unknown, drawn=None):
    random = generator("unknown", spec, kind, sorted(size.items()))
    low, high = (-2, 2) if elements.is_float(kind) else (-100, 100)
    return [argument(kind, elements.draw(random, drawn or kind, [size[c] for c in side], low, high), [c in unknown for c in side])
            for side in spec.split("->")[0].split(",")]


def cases(sizes):
    whole = len(sizes) > 1
    for number, (kind, total) in enumerate((*KINDS, ("tf32", "f32"))):
        stored = "f32" if kind == "tf32" else kind
        behind, drawn = (" of few bits", "bf16") if kind == "tf32" else ("", None)
        every = [(spec, size, unknown) for spec, of in FORMS for size, unknown in sized(spec, of)]
        if kind in ("f32", "f64"):
            every += [(spec, size, unknown) for spec, of in WHOLE_TILES for size, unknown in sized(spec, of)]
        every += [(spec, {"i": i, "j": j, "k": k}, "ijk") for spec in ("ik,jk->ij", "ki,kj->ij") for i, j, k in ANY]
        for order, (spec, size, unknown) in enumerate(every):
            if whole or (order + number) % 3 == 0:
                yield Case(f"contraction of unknown {''.join(unknown)} {spec}{behind}", f"{stored} to {total}", one(
                    pair(spec, stored, size, unknown, drawn),
                    lambda f, a, b, spec=spec, stored=stored, total=total: contract(f, spec, stored, total, a, b),
                    lambda a, b, spec=spec, total=total: contracted(spec, total, a.v, b.v)))
        if kind in ("bf16", "f16"):
            for i in ROWS:
                size = {"i": i, "j": 136, "k": 1096}
                bias = argument("f32", elements.draw(generator("unknown bias", kind, i), "f32", (size["j"],)))
                yield Case("contraction of unknown rows, bias, relu", kind, one(
                    [*pair("ik,jk->ij", kind, size, "i"), bias],
                    lambda f, a, b, c, kind=kind: biased(f, "ik,jk->ij", kind, "f32", a, b, c), biased_relu("ik,jk->ij", kind)))
    for i in (1, 8, 9, 32, 33, 65, 129):
        for kinds in f8.PAIRS[:2 if whole else 1]:
            a, b = f8.sides("ik,jk->ij", kinds, (i, 136, 2096), False)
            a.dynamic[0] = True
            yield Case("contraction of unknown rows of f8", " ".join(kinds), one(
                [a, b], lambda f, a, b, kinds=kinds: f8.contract(f, "ik,jk->ij", kinds, a, b),
                lambda a, b, kinds=kinds: contracted("ik,jk->ij", "f32", f8.decoded(kinds[0], a.v), f8.decoded(kinds[1], b.v))))
    # More tiles than blocks: lines of one tile arrive while results of the one before are staged. And sums over two axes that are no
    # neighbours.
    for spec, size, unknown in (("ik,kj->ij", {"i": 1024, "j": 7681, "k": 70}, "i"), ("ik,jk->ij", {"i": 1664, "j": 2111, "k": 201}, "k"),
                                ("kbri,kbrj->bij", {"k": 3, "b": 2, "r": 70, "i": 67, "j": 131}, "i")):
        yield Case(f"contraction of unknown {unknown} whose lines begin anywhere, many {spec}", "bf16 to f32", one(
            pair(spec, "bf16", size, unknown), lambda f, a, b, spec=spec: contract(f, spec, "bf16", "f32", a, b),
            lambda a, b, spec=spec: contracted(spec, "f32", a.v, b.v)))
    for number, (kind, total) in enumerate((("bf16", "f32"), ("f16", "f32"), ("tf32", "f32"), ("i8", "i32"))):
        stored, drawn = ("f32", "bf16") if kind == "tf32" else (kind, None)
        forms = ("ik,jk->ij", "ik,kj->ij", "ki,kj->ij", "ki,jk->ij", "bik,bkj->bij")
        for order, (spec, (i, j, k), unknown) in enumerate((spec, size, unknown) for spec in forms for size in LINES for unknown in ("i", "k", "ijk")):
            if not whole and (order + number) % 5 != 0:
                continue
            given = pair(spec, stored, {"b": 2, "i": i, "j": j, "k": k}, unknown, drawn)
            for side, each in enumerate(given):
                each.behind = (order // 5 + side) % 3
            yield Case(f"contraction of unknown {unknown} whose lines begin anywhere {spec}{' of few bits' if drawn else ''}", f"{stored} to {total}", one(
                given, lambda f, a, b, spec=spec, stored=stored, total=total: contract(f, spec, stored, total, a, b),
                lambda a, b, spec=spec, total=total: contracted(spec, total, a.v, b.v)))
