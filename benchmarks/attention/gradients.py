# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The gradients of attention by queries, keys and values, from what forward keeps: the result and the logarithm of each row's sum of
exponentials. Weights are computed again. Tensors are [batch, heads, length, depth]."""
import dataclasses
import math


@dataclasses.dataclass(frozen=True)
class AttentionGradient:
    kind: str
    batch: int
    heads: int
    length: int
    depth: int
    causal: bool = False

    def name(self):
        return f"{self.kind}_{self.batch}x{self.heads}x{self.length}_d{self.depth}" + ("_causal" if self.causal else "") + "_backward"

    def shapes(self):
        return [(self.batch, self.heads, self.length, self.depth)] * 5 + [(self.batch, self.heads, self.length)]

    def operations(self):
        """Five products; half of them below a diagonal."""
        return 10 * self.batch * self.heads * self.length ** 2 * self.depth // (2 if self.causal else 1)


SETS = {"backward": [AttentionGradient("bf16", 4, 16, 4096, depth, causal) for depth in (128, 64) for causal in (False, True)]}


def program(case):
    """The function `run` of queries, keys, values, result, its gradient and logarithms."""
    from mlir_text import Function  # pylint: disable=import-outside-toplevel

    f = Function("run")
    q, k, v, o, given = (f.argument(case.kind, *shape) for shape in case.shapes()[:5])
    logarithms = f.argument("f32", *case.shapes()[5])
    size, factor = dict(zip("bhmd", case.shapes()[0]), n=case.length, e=case.depth), 1 / math.sqrt(case.depth)
    scores = "bhmn"

    def multiply(x, y):
        return f.op("arith.mulf", "f32", x, y)

    def product(a, b, of_a, of_b, out):
        order = out + "".join(sorted(set(of_a + of_b) - set(out)))
        start = f.fill("f32", [size[c] for c in out], 0.0)

        def body(x, y, total):
            return f.op("arith.addf", "f32", total, multiply(*(f.convert(value, case.kind, "f32") for value in (x, y))))

        return f.generic([(a, [order.index(c) for c in of_a]), (b, [order.index(c) for c in of_b])], [(start, range(len(out)))],
                         "".join("p" if c in out else "r" for c in order), body)[0]

    def of_scores(body, *tensors):
        """Of elements of scores, and of rows."""
        start = f.empty("f32", [size[c] for c in scores])
        return f.generic([(each, range(len(each.shape))) for each in tensors], [(start, range(4))], "pppp", lambda *values: body(*values[:-1]))[0]

    def weight(score, logarithm):
        made = f.op("math.exp", "f32", f.op("arith.subf", "f32", multiply(score, f.constant("f32", factor)), logarithm))
        if not case.causal:
            return made
        seen = f.fresh()
        f.line(f"{seen} = arith.cmpi sge, {f.loop_index(2)}, {f.loop_index(3)} : index")
        return f.select(seen, "f32", made, f.constant("f32", 0.0))

    def by_score(p, dp, row):
        return multiply(multiply(p, f.op("arith.subf", "f32", dp, row)), f.constant("f32", factor))

    rows = f.generic([(o, range(4)), (given, range(4))], [(f.fill("f32", [size[c] for c in "bhm"], 0.0), range(3))], "pppr",
                     lambda x, y, total: f.op("arith.addf", "f32", total, multiply(*(f.convert(value, case.kind, "f32") for value in (x, y)))))[0]
    weights = of_scores(weight, product(q, k, "bhmd", "bhnd", scores), logarithms)
    by_scores = f.tensor_op("arith.truncf", of_scores(by_score, weights, product(given, v, "bhme", "bhne", scores), rows), kind=case.kind)
    narrow = f.tensor_op("arith.truncf", weights, kind=case.kind)
    made = (product(by_scores, k, scores, "bhnd", "bhmd"), product(by_scores, q, scores, "bhmd", "bhnd"),
            product(narrow, given, scores, "bhme", "bhne"))
    f.give(*(f.tensor_op("arith.truncf", each, kind=case.kind) for each in made))
    return str(f)
