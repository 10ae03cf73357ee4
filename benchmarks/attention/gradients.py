# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The gradients of attention by queries, keys and values, from what forward keeps: the result and the logarithm of each row's sum of
exponentials. Weights are computed again. A step is forward and backward in one program. Tensors are [batch, heads, length, depth]."""
import dataclasses
import math

import shapes


@dataclasses.dataclass(frozen=True)
class AttentionGradient:
    kind: str
    batch: int
    heads: int
    length: int
    depth: int
    causal: bool = False
    shared: int = 1  # heads that share their keys and values

    def name(self):
        heads = f"{self.heads}_{self.heads // self.shared}kv" if self.shared > 1 else f"{self.heads}"
        return f"{self.kind}_{self.batch}x{heads}x{self.length}_d{self.depth}" + ("_causal" if self.causal else "") + "_backward"

    def letters(self):
        """Of heads: those that share their keys are a dimension of their own."""
        return "bhg" if self.shared > 1 else "bh"

    def shapes(self):
        """Of queries, keys, values, result, its gradient and logarithms."""
        batch = (self.batch, self.heads // self.shared)
        heads = batch + ((self.shared,) if self.shared > 1 else ())
        of_queries, of_keys = (*heads, self.length, self.depth), (*batch, self.length, self.depth)
        return [of_queries, of_keys, of_keys, of_queries, of_queries, (*heads, self.length)]

    def operations(self):
        """Five products; half of them below a diagonal."""
        return 10 * self.batch * self.heads * self.length ** 2 * self.depth // (2 if self.causal else 1)


@dataclasses.dataclass(frozen=True)
class AttentionStep(AttentionGradient):
    def name(self):
        return super().name().replace("_backward", "_step")

    def shapes(self):
        of_queries, of_keys = super().shapes()[:2]
        return [of_queries, of_keys, of_keys, of_queries]

    def operations(self):
        """Seven products."""
        return super().operations() * 7 // 5


FORMS = [("bf16", 4, 16, 4096, depth, causal) for depth in (128, 64) for causal in (False, True)]
# Depths from 32 to 128, full and causal, of short, medium and long sequences, and of a length that no tile divides.
EVERY = [("bf16", batch, heads, length, depth, causal) for batch, heads, length in ((32, 16, 512), (8, 16, 2048), (2, 16, 8192), (8, 16, 1000))
         for depth in (32, 40, 64, 80, 96, 128) for causal in (False, True)]
SETS = {"every_backward": [AttentionGradient(*form) for form in EVERY],
        "backward": [AttentionGradient(*form) for form in FORMS], "step": [AttentionStep(*form) for form in FORMS],
        # Short sequences, whose scores are about as many as the elements of queries and keys.
        "short_backward": [AttentionGradient("bf16", 32, 12, length, depth) for length in (16, 33, 64, 77, 128, 197, 256, 384) for depth in (32, 64, 96, 128)],
        "shared_backward": [AttentionGradient("bf16", 1, 32, length, 128, causal, shared=4) for length, causal in ((8192, True), (4096, False))]}


def program(case):
    """The function `run` of queries, keys, values, result, its gradient and logarithms; of a step, of queries, keys, values and the
    result's gradient, and it returns the result, too."""
    from mlir_text import Function  # pylint: disable=import-outside-toplevel

    is_step = isinstance(case, AttentionStep)
    f = Function("run")
    if is_step:
        q, k, v, given = (f.argument(case.kind, *shape) for shape in case.shapes())
    else:
        q, k, v, o, given = (f.argument(case.kind, *shape) for shape in case.shapes()[:5])
        logarithms = f.argument("f32", *case.shapes()[5])
    heads, factor = case.letters(), 1 / math.sqrt(case.depth)
    size = dict(zip(heads + "md", case.shapes()[0]), n=case.length, e=case.depth)
    scores, of_q, of_o, rows_of = heads + "mn", heads + "md", heads + "me", heads + "m"

    def multiply(x, y):
        return f.op("arith.mulf", "f32", x, y)

    def product(*operands):
        return shapes.product(f, case.kind, size, *operands)

    def of_scores(body, *tensors):
        """Of elements of scores, and of rows."""
        start = f.empty("f32", [size[c] for c in scores])
        return f.generic([(each, range(len(each.shape))) for each in tensors], [(start, range(len(scores)))], "p" * len(scores), lambda *values: body(*values[:-1]))[0]

    def where_seen(value, otherwise):
        if not case.causal:
            return value
        seen = f.fresh()
        f.line(f"{seen} = arith.cmpi sge, {f.loop_index(scores.index('m'))}, {f.loop_index(scores.index('n'))} : index")
        return f.select(seen, "f32", value, f.constant("f32", otherwise))

    def weight(score, logarithm):
        made = f.op("math.exp", "f32", f.op("arith.subf", "f32", multiply(score, f.constant("f32", factor)), logarithm))
        return where_seen(made, 0.0)

    def over_keys(tensor, operation, start):
        return f.generic([(tensor, range(len(scores)))], [(f.fill("f32", [size[c] for c in rows_of], start), range(len(rows_of)))], "p" * len(rows_of) + "r",
                         lambda x, total: f.op(operation, "f32", total, x))[0]

    def softmax_of(products):
        logits = of_scores(lambda x: where_seen(multiply(x, f.constant("f32", factor)), float("-inf")), products)
        powers = of_scores(lambda x, y: f.op("math.exp", "f32", f.op("arith.subf", "f32", x, y)), logits,
                           over_keys(logits, "arith.maximumf", float("-inf")))
        return of_scores(lambda x, y: f.op("arith.divf", "f32", x, y), powers, over_keys(powers, "arith.addf", 0.0))

    def by_score(p, dp, row):
        return multiply(multiply(p, f.op("arith.subf", "f32", dp, row)), f.constant("f32", factor))

    products = product(q, k, of_q, "bhnd", scores)
    if is_step:
        weights = softmax_of(products)
        narrow = f.tensor_op("arith.truncf", weights, kind=case.kind)
        o = f.tensor_op("arith.truncf", product(narrow, v, scores, "bhne", of_o), kind=case.kind)
    else:
        weights = of_scores(weight, products, logarithms)
        narrow = f.tensor_op("arith.truncf", weights, kind=case.kind)
    all_of = range(len(of_o))
    rows = f.generic([(o, all_of), (given, all_of)], [(f.fill("f32", [size[c] for c in rows_of], 0.0), range(len(rows_of)))], "p" * len(rows_of) + "r",
                     lambda x, y, total: f.op("arith.addf", "f32", total, multiply(*(f.convert(value, case.kind, "f32") for value in (x, y)))))[0]
    by_scores = f.tensor_op("arith.truncf", of_scores(by_score, weights, product(given, v, of_o, "bhne", scores), rows), kind=case.kind)
    made = (product(by_scores, k, scores, "bhnd", of_q), product(by_scores, q, scores, of_q, "bhnd"),
            product(narrow, given, scores, of_o, "bhne"))
    f.give(*([o] if is_step else []), *(f.tensor_op("arith.truncf", each, kind=case.kind) for each in made))
    return str(f)
