# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Attention over sequences of different lengths: documents packed into one, queries, keys and values [positions, heads, depth], and a
number of the document for each position; or a batch that is padded, [batch, heads, positions, depth], and a length for each element.
"""
import dataclasses
import itertools
import math

import shapes

# Of documents of a language model, long and short ones: 32768 positions, and as many in even pieces.
MIXED = (8192, 512, 2048, 333, 4096, 1024, 128, 777, 6000, 64, 1500, 2500, 301, 3000, 1200, 1093)
EVEN = (2048,) * 16
PADDED = (4096, 1024, 3000, 512, 2048, 100, 3500, 1777)


@dataclasses.dataclass(frozen=True)
class Documents:
    kind: str
    lengths: tuple
    heads: int
    depth: int
    causal: bool = False
    shared: int = 1
    padded: int = 0  # positions of each element of the batch; else documents are packed

    def name(self):
        which = "padded" if self.padded else {MIXED: "mixed", EVEN: "even"}.get(self.lengths, "documents")
        heads = f"{self.heads}_{self.heads // self.shared}kv" if self.shared > 1 else f"{self.heads}"
        return f"{self.kind}_{which}_{heads}x{self.positions()}_d{self.depth}" + ("_causal" if self.causal else "")

    def positions(self):
        return self.padded or sum(self.lengths)

    def shapes(self):
        key_heads = self.heads // self.shared
        if self.padded:
            return [(len(self.lengths), key_heads, *(((self.shared,) if self.shared > 1 else ())), self.padded, self.depth)] + \
                [(len(self.lengths), key_heads, self.padded, self.depth)] * 2
        queries = (self.positions(), key_heads, self.shared, self.depth) if self.shared > 1 else (self.positions(), self.heads, self.depth)
        return [queries] + [(self.positions(), key_heads, self.depth)] * 2

    def numbers(self):
        """What the mask is computed from."""
        if self.padded:
            return list(self.lengths)
        return list(itertools.chain.from_iterable([number] * length for number, length in enumerate(self.lengths)))

    def operations(self):
        """Of keys that are seen, by rows that are no padding; half of them below a diagonal."""
        return 4 * self.heads * self.depth * sum(length ** 2 for length in self.lengths) // (2 if self.causal else 1)


SETS = {"documents": [Documents("bf16", MIXED, 16, 128), Documents("bf16", MIXED, 16, 128, causal=True), Documents("bf16", EVEN, 16, 128),
                      Documents("bf16", EVEN, 16, 128, causal=True), Documents("bf16", MIXED, 32, 64, causal=True),
                      Documents("bf16", EVEN, 32, 128, causal=True, shared=4), Documents("f16", PADDED, 16, 128, padded=4096)]}


def program(case):
    """The function `run` of queries, keys, values and the numbers."""
    from mlir_text import Function  # pylint: disable=import-outside-toplevel

    f = Function("run")
    q, k, v = (f.argument(case.kind, *shape) for shape in case.shapes())
    numbers = f.argument("i32", len(case.numbers()))
    group = "g" if case.shared > 1 else ""
    of_q, of_k, scores = ("bh" + group + "md", "bhnd", "bh" + group + "mn") if case.padded else ("mh" + group + "d", "nhd", "h" + group + "mn")
    size = dict(zip(of_q, case.shapes()[0]), n=case.positions(), e=case.depth)
    products = shapes.product(f, case.kind, size, q, k, of_q, of_k, scores)
    m, n = scores.index("m"), scores.index("n")

    def compare(predicate, x, y):
        result = f.fresh()
        f.line(f"{result} = arith.cmpi {predicate}, {x}, {y} : i32")
        return result

    def logit(score, *of_mask):
        seen = compare("slt", f.loop_index(n, "i32"), of_mask[0]) if case.padded else compare("eq", *of_mask[:2])
        if case.padded:  # and padding sees nothing
            seen = f.op("arith.andi", "i1", seen, compare("slt", f.loop_index(m, "i32"), of_mask[0]))
        if case.causal:
            seen = f.op("arith.andi", "i1", seen, compare("sge", f.loop_index(m, "i32"), f.loop_index(n, "i32")))
        scaled = f.op("arith.mulf", "f32", score, f.constant("f32", 1 / math.sqrt(case.depth)))
        return f.select(seen, "f32", scaled, f.constant("f32", -math.inf))

    start = f.empty("f32", [size[c] for c in scores])
    of_mask = [(numbers, [scores.index("b")])] if case.padded else [(numbers, [m]), (numbers, [n])]
    logits = f.generic([(products, range(len(scores))), *of_mask], [(start, range(len(scores)))], "p" * len(scores), lambda *x: logit(*x[:-1]))[0]
    narrow = f.tensor_op("arith.truncf", shapes.softmax(f, logits), kind=case.kind)
    out = shapes.product(f, case.kind, size, narrow, v, scores, of_k.replace("d", "e"), of_q.replace("d", "e"))
    f.give(f.tensor_op("arith.truncf", out, kind=case.kind))
    return str(f)
