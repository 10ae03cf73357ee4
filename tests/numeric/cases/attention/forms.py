# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""An attention in the forms that programs have it in: orders of dimensions, scales, ways to say softmax, masks and biases. `Writer`
writes one as MLIR, `reference` computes the plain form in float64 and says how far a right result may be from it, and `drawn` gives
inputs, some of them hard for a softmax that is computed block by block."""
import math

import numpy as np

import elements
from elements import EPS

# Dimensions of queries, keys, values, scores and result. b, h: the batch; g: heads that share their keys.
LAYOUTS = {
    "bmd": ("bmd", "bnd", "bne", "bmn", "bme"),
    "transposed keys": ("bmd", "bdn", "bne", "bmn", "bme"),
    "bhmd": ("bhmd", "bhnd", "bhne", "bhmn", "bhme"),
    "bmhd": ("bmhd", "bnhd", "bnhe", "bhmn", "bmhe"),
    "grouped": ("bhgmd", "bhnd", "bhne", "bhgmn", "bhgme"),
    "one head of keys": ("bhmd", "bnd", "bne", "bhmn", "bhme"),
    "everything turned": ("bdm", "bdn", "ben", "bnm", "bem"),
    "flat": ("bhmd", "bhnd", "bhne", "bhmn", "bhme"),
    "repeated": ("bhgmd", "bhnd", "bhne", "bhgmn", "bhgme"),
    "repeated flat": ("bhgmd", "bhnd", "bhne", "bhgmn", "bhgme"),
    # For cases/attention/documents.py, cases/attention/shared.py and cases/attention/packed.py, and for batches in the middle.
    "packed grouped": ("bmhgd", "bnhd", "bnhe", "bhgmn", "bmhge"),
    "middle": ("mbhd", "nbhd", "nbhe", "bhmn", "mbhe"),
    "packed": ("mhd", "nhd", "nhe", "hmn", "mhe"),
    "keys of all heads": ("bhmd", "bnd", "bhne", "bhmn", "bhme"),
    "values of all heads": ("bhmd", "bhnd", "bne", "bhmn", "bhme"),
}
BATCHED = list(LAYOUTS)[:-5]
# flat: products in three dimensions, heads being part of the batch. repeated: keys are copied for each head that shares them.
SCALES = ("multiplied", "divided", "queries before", "none")
SOFTMAXES = ("operation", "steps", "reciprocal", "behind", "kept dimensions", "powers of two", "scaled powers of two")
MASKS = ("none", "causal", "causal, large", "causal, added", "window", "window, large", "bias", "chosen", "chosen, large", "lengths", "soft cap", "shifted causal", "causal and chosen")
GUARDED = ("guarded", "guarded behind", "guarded sum")  # where all keys of a query are hidden, the result is 0
# guarded sum: the maximum starts from the least finite number, so that the sum alone is to be guarded.
AWAY = {"causal, added large": -1e30, "late, added large": -1e30, "causal, large": -1e30, "window, large": -1e30, "chosen, large": -1e30}  # what hides a key, where it is not -inf
INPUTS = ("plain", "dominating key", "growing keys", "times 8", "constant rows", "large")


def indices(spec, loops):
    return [loops.index(c) for c in spec]


class Writer:
    """One attention as MLIR."""

    def __init__(self, f, layout, operand, scale, softmax, mask, size):
        self.f, self.specs, self.operand, self.how = f, LAYOUTS[layout], operand, (scale, softmax, mask)
        self.is_flat, self.is_repeated = "flat" in layout, "repeated" in layout
        self.kind = "f64" if operand == "f64" else "f32"
        self.factor = size["d"] ** -0.5

    def shape(self, spec):
        return [self.size[c] for c in spec]

    def reshaped(self, x, operation, shape, groups):
        f, result = self.f, type(x)(self.f.fresh(), x.kind, shape)
        sizes = f" output_shape [{', '.join(map(str, shape))}]" if operation == "expand_shape" else ""
        f.line(f"{result.name} = tensor.{operation} {x.name} {groups}{sizes} : {x.type} into {result.type}")
        return result

    def product(self, a, b, of_a, of_b, out):
        if self.is_repeated and "g" not in of_b:
            wide = of_b.replace("h", "hg")
            b, of_b = self.each(wide, lambda x: x, (b, of_b), kind=b.kind), wide
        if not self.is_flat:
            return self.plain_product(a, b, of_a, of_b, out)
        batch = len(out) - 2
        groups = [list(range(batch)), [batch], [batch + 1]]
        flat = [self.reshaped(x, "collapse_shape", [int(np.prod(x.shape[:batch])), *x.shape[batch:]], groups) for x in (a, b)]
        self.size["x"] = flat[0].shape[0]
        made = self.plain_product(*flat, *["x" + spec[batch:] for spec in (of_a, of_b, out)])
        return self.reshaped(made, "expand_shape", self.shape(out), groups)

    def plain_product(self, a, b, of_a, of_b, out):
        f = self.f
        loops = out + "".join(sorted(set(of_a + of_b) - set(out)))
        start = f.fill(self.kind, self.shape(out), 0.0)

        def body(x, y, total):
            x, y = f.convert(x, a.kind, self.kind), f.convert(y, b.kind, self.kind)
            return f.op("arith.addf", self.kind, total, f.op("arith.mulf", self.kind, x, y))

        return f.generic([(a, indices(of_a, loops)), (b, indices(of_b, loops))], [(start, range(len(out)))],
                         "".join("p" if c in out else "r" for c in loops), body)[0]

    def each(self, spec, body, *tensors, kind=None):
        """Elementwise over `spec`; tensors: (tensor, spec), a '1' being a dimension of one."""
        f = self.f
        start = f.empty(kind or self.kind, self.shape(spec))
        inputs = [(t, ["0" if c == "1" else spec.index(c) for c in s]) for t, s in tensors]
        return f.generic(inputs, [(start, range(len(spec)))], "p" * len(spec), lambda *x: body(*x[:-1]))[0]

    def reduced(self, x, spec, kept, operation, start):
        f = self.f
        shape = [1 if c == "1" else self.size[c] for c in kept]
        filled = f.fill(self.kind, shape, start)
        return f.generic([(x, range(len(spec)))], [(filled, ["0" if c == "1" else spec.index(c) for c in kept])],
                         "".join("r" if c == "n" else "p" for c in spec), lambda e, s: f.op(operation, self.kind, s, e))[0]

    def seen(self, spec, mask):
        """A condition on the loops of `spec`, in a body."""
        f = self.f
        m, n = (f.loop_index(spec.index(c)) for c in "mn")

        def compare(predicate, x, y):
            result = f.fresh()
            f.line(f"{result} = arith.cmpi {predicate}, {x}, {y} : index")
            return result

        def more(x, by):
            constant, result = f.fresh(), f.fresh()
            f.line(f"{constant} = arith.constant {by} : index")
            f.line(f"{result} = arith.addi {x}, {constant} : index")
            return result

        if mask.startswith("window"):
            return f.op("arith.andi", "i1", compare("sle", n, m), compare("slt", m, more(n, 20)))
        if mask == "shifted causal":
            return compare("uge", more(m, 3), n)
        if mask.startswith("late"):  # the first rows see no key
            return compare("sge", m, more(n, 5))
        return compare("sge", m, n)

    def logits(self, scores, extra):
        f, kind, spec = self.f, self.kind, self.specs[3]
        scale, _, mask = self.how
        if scale in ("multiplied", "divided"):
            def scaled(x):
                by = f.constant(kind, self.factor if scale == "multiplied" else 1 / self.factor)
                return f.op("arith.mulf" if scale == "multiplied" else "arith.divf", kind, x, by)
            scores = self.each(spec, scaled, (scores, spec))
        if mask in ("causal", "causal, large", "window", "window, large", "shifted causal"):
            def hidden(x):
                return f.select(self.seen(spec, mask), kind, x, f.constant(kind, AWAY.get(mask, -np.inf)))
            return self.each(spec, hidden, (scores, spec))
        if mask.startswith(("causal, added", "late, added")):
            order = "mn" if spec.index("m") < spec.index("n") else "nm"
            away = AWAY.get(mask, -np.inf)
            added = self.each(order, lambda: f.select(self.seen(order, mask), kind, f.constant(kind, 0.0), f.constant(kind, away)))
            return self.each(spec, lambda x, y: f.op("arith.addf", kind, x, y), (scores, spec), (added, order))
        if mask == "bias":
            return self.each(spec, lambda x, y: f.op("arith.addf", kind, x, f.convert(y, extra.kind, kind)),
                             (scores, spec), (extra, "mn"))
        if mask in ("chosen", "chosen, none", "chosen, large"):
            return self.each(spec, lambda x, y: f.select(y, kind, x, f.constant(kind, AWAY.get(mask, -np.inf))), (scores, spec), (extra, "bmn"))
        if mask == "causal and chosen":
            def both(x, y):
                return f.select(f.op("arith.andi", "i1", self.seen(spec, mask), y), kind, x, f.constant(kind, -np.inf))
            return self.each(spec, both, (scores, spec), (extra, "bmn"))
        if mask == "lengths":
            def inside(x, length):
                result = f.fresh()
                n = f.loop_index(spec.index("n"), "i32")
                f.line(f"{result} = arith.cmpi slt, {n}, {length} : i32")
                return f.select(result, kind, x, f.constant(kind, -np.inf))
            return self.each(spec, inside, (scores, spec), (extra, "b"))
        if mask == "soft cap":
            def capped(x):
                by = f.constant(kind, 5.0)
                return f.op("arith.mulf", kind, f.op("math.tanh", kind, f.op("arith.divf", kind, x, by)), by)
            return self.each(spec, capped, (scores, spec))
        return scores

    def weights(self, logits):
        """Those of the second product, and what divides its result."""
        f, kind, spec = self.f, self.kind, self.specs[3]
        softmax = self.how[1]
        if softmax == "operation":
            start = f.empty(kind, logits.shape)
            result = type(start)(f.fresh(), kind, logits.shape)
            f.line(f"{result.name} = linalg.softmax dimension({spec.index('n')}) ins({logits.name} : {logits.type}) "
                   f"outs({start.name} : {start.type}) -> {start.type}")
            return result, None
        kept = spec.replace("n", "1") if softmax == "kept dimensions" else spec.replace("n", "")
        start = float(np.finfo(np.float64 if kind == "f64" else np.float32).min) if softmax == "guarded sum" else -np.inf
        largest = self.reduced(logits, spec, kept, "arith.maximumf", start)
        if softmax == "powers of two":  # of the difference, times log2(e)
            powers = self.each(spec, lambda x, y: f.op("math.exp2", kind, f.op("arith.mulf", kind, f.op("arith.subf", kind, x, y), f.constant(kind, math.log2(math.e)))),
                               (logits, spec), (largest, kept))
        elif softmax == "scaled powers of two":  # each of both sides, times log2(e)
            def apart(x, y):
                sides = [f.op("arith.mulf", kind, side, f.constant(kind, math.log2(math.e))) for side in (x, y)]
                return f.op("math.exp2", kind, f.op("arith.subf", kind, *sides))
            powers = self.each(spec, apart, (logits, spec), (largest, kept))
        elif softmax == "steps":
            apart = self.each(spec, lambda x, y: f.op("arith.subf", kind, x, y), (logits, spec), (largest, kept))
            powers = self.each(spec, lambda x: f.op("math.exp", kind, x), (apart, spec))
        elif softmax in ("guarded", "guarded behind"):
            powers = self.each(spec, lambda x, y: f.op("math.exp", kind, f.op("arith.subf", kind, x, self.guarded(y, -np.inf, 0.0))),
                               (logits, spec), (largest, kept))
        else:
            powers = self.each(spec, lambda x, y: f.op("math.exp", kind, f.op("arith.subf", kind, x, y)),
                               (logits, spec), (largest, kept))
        total = self.reduced(powers, spec, kept, "arith.addf", 0.0)
        self.of_rows = largest, total, kept
        if softmax in ("behind", "guarded behind"):
            return powers, (total, kept)
        if softmax == "reciprocal":
            inverse = self.each(kept, lambda x: f.op("arith.divf", kind, f.constant(kind, 1.0), x), (total, kept))
            return self.each(spec, lambda x, y: f.op("arith.mulf", kind, x, y), (powers, spec), (inverse, kept)), None
        if softmax in ("guarded", "guarded sum"):
            return self.each(spec, lambda x, y: f.op("arith.divf", kind, x, self.guarded(y, 0.0, 1.0)), (powers, spec), (total, kept)), None
        return self.each(spec, lambda x, y: f.op("arith.divf", kind, x, y), (powers, spec), (total, kept)), None

    def guarded(self, x, bad, good):
        """`good` where x is `bad`, else x."""
        f, kind = self.f, self.kind
        is_bad = f.fresh()
        f.line(f"{is_bad} = arith.cmpf oeq, {x}, {f.constant(kind, bad)} : {kind}")
        return f.select(is_bad, kind, f.constant(kind, good), x)

    def write(self, q, k, v, extra=None):
        f = self.f
        of_q, of_k, of_v, of_scores, of_result = self.specs
        self.size = {c: size for t, spec in ((v, of_v), (k, of_k), (q, of_q)) for c, size in zip(spec, t.shape)}
        if self.how[0] == "queries before":
            q = self.each(of_q, lambda x: f.op("arith.mulf", q.kind, x, f.constant(q.kind, self.factor)), (q, of_q), kind=q.kind)
        scores = self.product(q, k, of_q, of_k, of_scores)
        weights, total = self.weights(self.logits(scores, extra))
        if self.operand != self.kind:
            weights = self.each(of_scores, lambda x: f.op("arith.truncf", self.kind, x, to=self.operand), (weights, of_scores),
                                kind=self.operand)
        result = self.product(weights, v, of_scores, of_v, of_result)
        if total:
            divisor = (lambda y: self.guarded(y, 0.0, 1.0)) if self.how[1] in GUARDED else (lambda y: y)
            result = self.each(of_result, lambda x, y: f.op("arith.divf", self.kind, x, divisor(y)), (result, of_result), total)
        if self.operand != self.kind:
            result = self.each(of_result, lambda x: f.op("arith.truncf", self.kind, x, to=self.operand), (result, of_result),
                               kind=self.operand)
        return result


def reference(layout, operand, scale, softmax, mask, q, k, v, extra):
    """The result in float64, and how far a right one may be from it."""
    of_q, of_k, of_v, of_scores, of_result = LAYOUTS[layout]
    factor = q.shape[of_q.index("d")] ** -0.5 if scale != "none" else 1.0
    letters = "bhgmn"
    full = "".join(c for c in letters if c in of_scores)
    scores = np.einsum(f"{of_q},{of_k}->{full}", q, k) * factor
    size = np.einsum(f"{of_q},{of_k}->{full}", np.abs(q), np.abs(k)) * factor
    m, n = np.arange(scores.shape[-2])[:, None], np.arange(scores.shape[-1])[None, :]
    eps = max(EPS["f64"], min(EPS[operand], EPS["f32"]))
    gap = (q.shape[of_q.index("d")] + 4) * eps * size + (EPS[operand] * size if scale == "queries before" else 0)
    hidden = np.zeros((1, 1), bool)
    away = -np.inf
    if mask in ("causal", "causal, large", "causal, added", "causal, added large"):
        hidden, away = n > m, AWAY.get(mask, -np.inf)
    elif mask == "shifted causal":
        hidden = n > m + 3
    elif mask.startswith("late"):
        hidden, away = n + 5 > m, AWAY.get(mask, -np.inf)
    elif mask.startswith("window"):
        hidden, away = (n > m) | (n + 20 <= m), AWAY.get(mask, -np.inf)
    elif mask == "bias":
        scores = scores + extra
    elif mask in ("chosen", "chosen, none", "chosen, large", "causal and chosen"):
        away = AWAY.get(mask, -np.inf)
        hidden = ~np.asarray(extra, bool).reshape(extra.shape[:1] + (1,) * (scores.ndim - 3) + extra.shape[1:])
        hidden = hidden | (n > m) if mask == "causal and chosen" else hidden
    elif mask == "lengths":
        hidden = n >= np.asarray(extra).reshape((-1,) + (1,) * (scores.ndim - 1))
    elif mask == "soft cap":
        scores = 5 * np.tanh(scores / 5)
    scores = np.where(hidden, away, scores)
    with np.errstate(all="ignore"):
        powers = np.exp(scores - scores.max(-1, keepdims=True, initial=-np.inf))
        weights = powers / powers.sum(-1, keepdims=True)
        if softmax in GUARDED:
            weights = np.where((scores == -np.inf).all(-1, keepdims=True), 0.0, weights)
        result = np.einsum(f"{full},{of_v}->{of_result}", weights, v)
        whole = np.where(hidden, 0, np.abs(scores) * 8 * eps + gap)
        error = 2 * whole.max(-1, keepdims=True, initial=0) + EPS[operand] + (scores.shape[-1] + 16) * eps
        bound = np.einsum(f"{full},{of_v}->{of_result}", weights * error, np.abs(v))
    return result, bound


def drawn(random, layout, operand, size, inputs):
    of_q, of_k, of_v = LAYOUTS[layout][:3]
    shapes = [[size[c] for c in spec] for spec in (of_q, of_k, of_v)]
    q, k, v = (random.uniform(-2, 2, shape) for shape in shapes)
    along = [1] * k.ndim
    along[of_k.index("n")] = size["n"]
    if inputs == "dominating key":
        k = k * np.where(np.arange(size["n"]) == size["n"] * 2 // 3, 6.0, 0.2).reshape(along)
    elif inputs == "growing keys":
        k = np.abs(k) * (0.05 + np.arange(size["n"]) / max(1, size["n"])).reshape(along) * 3
        q = np.abs(q)
    elif inputs == "times 8":
        q = q * 8
    elif inputs == "constant rows":
        q, k = np.ones_like(q), np.ones_like(k)
    elif inputs == "large":  # a naive softmax overflows
        q, k = q * 16, k * 16
    return [elements.rounded(operand, x) for x in (q, k, v)]
