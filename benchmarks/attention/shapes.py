# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The attentions that are raced, and their programs: queries [batch, heads, length, depth], keys and values [batch, key heads,
keys, depth], sums in f32, results rounded to the type of the operands once. Nothing in a program names attention: it is two
products with a softmax between.
"""
import dataclasses
import math
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "scripts"))


@dataclasses.dataclass(frozen=True)
class Attention:
    kind: str
    batch: int
    heads: int
    length: int
    depth: int
    mask: str = ""      # "causal"; "last": the same where queries are those of the last keys; or one that no peer has a flag for: "bias" (a slope for each head), "cap"
    shared: int = 1     # heads that share their keys and values
    keys: int = 0       # as many as queries, where it is 0
    columns: int = 0    # of values, where they are not as many as elements of a key
    latent: bool = False  # values are the first elements of the keys

    def name(self):
        shared = f"_{self.heads // self.shared}kv" if self.shared > 1 else ""
        keys = f"x{self.keys}" if self.keys else ""
        depth = f"{self.depth}x{self.columns}" if self.columns else str(self.depth)
        return f"{self.kind}_{self.batch}x{self.heads}{shared}_{self.length}{keys}_d{depth}" + "_latent" * self.latent + (f"_{self.mask}" if self.mask else "")

    def wide(self):
        """The type of what products of f8 are rounded to, and of queries of keys in i8; else that of the operands."""
        return "bf16" if self.kind.startswith("f8") or self.kind == "i8" else self.kind

    def key_count(self):
        return self.keys or self.length

    def shapes(self):
        """Of queries, keys, values: heads are two dimensions, so that those which share keys say it."""
        key_heads = self.heads // self.shared
        other = (self.batch, key_heads, self.key_count())
        return [(self.batch, key_heads, self.shared, self.length, self.depth), (*other, self.depth), (*other, self.columns or self.depth)]

    def scale_shapes(self):
        """Of i8: a scale for each key and each value, behind the operands."""
        return [shape[:3] for shape in self.shapes()[1:]] if self.kind == "i8" else []

    def read_bytes(self):
        """Of keys and values."""
        element = 1 if self.kind == "i8" or self.kind.startswith("f8") else 2
        return sum(element * math.prod(shape) for shape in self.shapes()[1:2 if self.latent else 3]) + sum(4 * math.prod(shape) for shape in self.scale_shapes())

    def operations(self):
        """As FlashAttention counts them: half where half of the scores are hidden."""
        depths = self.depth + (self.columns or self.depth)
        hidden = self.length * (self.length - 1) // 2 if self.mask == "last" else 0
        return 2 * self.batch * self.heads * (self.length * self.key_count() - hidden) * depths // (2 if self.mask == "causal" else 1)


SETS = {
    "goals": [Attention("bf16", 4, 16, 4096, 128), Attention("bf16", 4, 16, 4096, 128, "causal"),
              Attention("bf16", 4, 32, 4096, 64), Attention("bf16", 4, 32, 4096, 64, "causal"),
              Attention("bf16", 1, 16, 16384, 128), Attention("bf16", 1, 16, 16384, 128, "causal"),
              Attention("bf16", 1, 32, 8192, 128, "causal", shared=4), Attention("bf16", 4, 8, 4096, 256),
              Attention("bf16", 4, 16, 4001, 128), Attention("f16", 4, 16, 4096, 128),
              Attention("bf16", 4, 16, 4096, 128, "bias"), Attention("bf16", 4, 16, 4096, 128, "cap")],
}
SETS["first"] = SETS["goals"][:4]
# One query of each sequence against keys that are there: 32 heads, four of which share their keys.
SETS["decode"] = [Attention("bf16", batch, 32, 1, 128, shared=4, keys=keys)
                  for batch, keys in ((1, 1024), (1, 8192), (1, 65536), (16, 1024), (16, 8192), (128, 1024), (128, 4096))]
# Other numbers of heads that share keys, depths and types.
SETS["decode_wide"] = [Attention(kind, batch, heads, 1, depth, shared=shared, keys=keys) for kind, batch, heads, shared, depth, keys in (
    ("bf16", 1, 8, 8, 128, 65536), ("bf16", 1, 32, 32, 128, 65536), ("bf16", 1, 32, 32, 128, 8192), ("bf16", 1, 32, 1, 128, 65536), ("bf16", 1, 32, 1, 128, 8192),
    ("bf16", 1, 32, 4, 64, 65536), ("bf16", 1, 32, 4, 128, 4096), ("bf16", 1, 32, 4, 128, 16384), ("bf16", 3, 32, 4, 128, 8192), ("bf16", 10, 32, 4, 128, 8192),
    ("bf16", 16, 32, 4, 128, 65536), ("bf16", 128, 32, 4, 128, 16384), ("f8E4M3FN", 1, 32, 4, 128, 65536), ("f8E4M3FN", 16, 32, 4, 128, 8192),
    ("i8", 1, 32, 4, 128, 65536), ("i8", 16, 32, 4, 128, 8192))]
# What check.py compares of few queries: none, one and all blocks of keys in parts.
SETS["hard_few"] = [Attention(kind, batch, heads, length, depth, shared=shared, keys=keys) for kind, batch, heads, shared, length, depth, keys in (
    ("bf16", 1, 32, 4, 1, 128, 1), ("bf16", 1, 32, 4, 1, 128, 31), ("f16", 1, 32, 4, 1, 128, 4097), ("bf16", 1, 32, 4, 1, 128, 65536), ("bf16", 1, 8, 8, 1, 64, 4097),
    ("bf16", 1, 32, 32, 1, 128, 9001), ("f16", 1, 8, 1, 3, 64, 10007), ("bf16", 1, 32, 32, 1, 128, 3001), ("bf16", 2, 32, 4, 2, 64, 513),
    ("f8E4M3FN", 1, 32, 4, 1, 128, 4099), ("f8E4M3FN", 3, 8, 8, 1, 64, 1025), ("i8", 1, 32, 4, 1, 128, 4099), ("i8", 2, 8, 8, 5, 64, 10240), ("i8", 1, 4, 4, 1, 128, 33), ("bf16", 16, 32, 4, 1, 128, 1024), ("bf16", 10, 32, 4, 1, 128, 2049))]
# Shapes that nothing was tuned to, and one more and one less than a block reads at once.
SETS["odd_few"] = [Attention(kind, batch, heads, length, depth, shared=shared, keys=keys) for kind, batch, heads, shared, length, depth, keys in (
    ("bf16", 3, 28, 7, 1, 128, 777), ("bf16", 5, 28, 7, 1, 64, 5000), ("f16", 37, 28, 7, 1, 128, 777), ("bf16", 3, 40, 5, 1, 80, 5000),
    ("f16", 5, 40, 5, 1, 96, 33333), ("bf16", 1, 40, 5, 1, 192, 33333), ("bf16", 3, 40, 5, 1, 256, 5000), ("f16", 1, 40, 5, 1, 256, 33333),
    ("bf16", 1, 71, 71, 1, 64, 33333), ("bf16", 3, 71, 71, 1, 128, 5000), ("bf16", 37, 71, 71, 1, 64, 5000), ("f16", 1, 71, 71, 1, 192, 5000),
    ("bf16", 1, 12, 12, 1, 256, 4097), ("bf16", 2, 32, 32, 1, 128, 33333), ("bf16", 1, 32, 32, 1, 128, 65536), ("bf16", 37, 40, 5, 1, 128, 5000),
    ("bf16", 37, 28, 7, 1, 256, 777), ("f8E4M3FN", 3, 40, 5, 1, 80, 5000), ("f8E4M3FN", 1, 28, 7, 1, 256, 33333), ("f8E4M3FN", 5, 28, 7, 1, 96, 777),
    ("i8", 3, 40, 5, 1, 128, 33333), ("i8", 5, 28, 7, 1, 64, 777), ("i8", 1, 71, 71, 1, 128, 5000), ("i8", 1, 12, 4, 1, 256, 5000),
    ("i8", 2, 12, 4, 1, 80, 1031), ("bf16", 1, 8, 4, 1, 128, 127), ("bf16", 1, 8, 4, 1, 128, 128), ("bf16", 1, 8, 4, 1, 128, 129),
    ("bf16", 1, 8, 4, 1, 128, 1023), ("bf16", 1, 8, 4, 1, 128, 1025), ("bf16", 1, 17, 17, 1, 128, 1024), ("bf16", 1, 17, 17, 1, 128, 1039),
    ("bf16", 1, 33, 33, 1, 64, 1025), ("f16", 1, 16, 16, 1, 128, 1041), ("bf16", 1, 9, 9, 1, 136, 1040), ("bf16", 1, 16, 16, 1, 248, 2047),
    ("bf16", 1, 8, 8, 1, 72, 63), ("f8E4M3FN", 1, 8, 8, 1, 128, 255), ("f8E4M3FN", 1, 8, 8, 1, 128, 257), ("i8", 1, 8, 8, 1, 128, 383),
    ("i8", 1, 8, 8, 1, 128, 385), ("bf16", 1, 128, 128, 1, 128, 1030), ("bf16", 1, 1, 1, 1, 8, 40), ("f16", 2, 6, 3, 3, 24, 90),
    ("bf16", 1, 12, 3, 5, 128, 4100))]
# Latent attention, whose keys are values, on one head of keys; the same with values apart; and what steps are not whole of.
SETS["latent"] = [Attention("bf16", batch, heads, length, 576, shared=heads, keys=keys, columns=512, latent=True) for batch, heads, length, keys in (
    (1, 16, 1, 8192), (1, 16, 1, 65536), (16, 16, 1, 8192), (64, 16, 1, 4096), (1, 32, 1, 32768), (1, 64, 1, 32768), (1, 128, 1, 32768), (16, 128, 1, 4096), (4, 16, 2, 16384), (1, 128, 1, 4096), (4, 128, 1, 65536))] + [
    Attention("bf16", 1, 16, 1, 576, shared=16, keys=65536, columns=512), Attention("f16", 8, 32, 1, 512, shared=4, keys=8192), Attention("bf16", 2, 8, 1, 320, shared=8, keys=33333)]
SETS["hard_latent"] = [Attention(kind, batch, heads, length, depth, shared=heads // groups, keys=keys, columns=columns, latent=latent)
                       for kind, batch, heads, groups, length, depth, keys, columns, latent in (
    ("bf16", 1, 16, 1, 1, 576, 1, 512, True), ("f16", 1, 16, 1, 1, 576, 63, 512, True), ("bf16", 3, 16, 1, 1, 576, 65, 512, True), ("bf16", 1, 128, 1, 1, 576, 4097, 512, True),
    ("f16", 2, 71, 1, 1, 576, 5000, 512, True), ("bf16", 1, 8, 1, 1, 576, 10007, 512, True), ("bf16", 37, 17, 1, 1, 576, 777, 512, False), ("f16", 1, 33, 1, 1, 320, 4099, 264, False),
    ("bf16", 2, 12, 3, 5, 264, 2047, 512, False), ("bf16", 1, 1, 1, 1, 640, 9001, 512, False), ("f16", 4, 4, 4, 1, 512, 1030, 512, True), ("bf16", 1, 24, 1, 1, 64, 3000, 512, False),
    ("bf16", 130, 16, 1, 1, 576, 300, 512, True), ("bf16", 1, 24, 1, 1, 576, 5000, 512, True), ("f16", 2, 64, 1, 1, 576, 4096, 512, False), ("bf16", 2, 20, 1, 5, 512, 3001, 512, True),
    ("f16", 3, 33, 1, 1, 320, 65, 264, False), ("bf16", 1, 128, 1, 1, 264, 31, 320, False), ("bf16", 1, 40, 1, 1, 640, 2000, 512, False), ("f16", 1, 17, 1, 1, 576, 65536, 512, True))]
# What check.py compares: each kernel and tile, ragged lengths among them; one of depth 64 has tiles of 192 queries or of 128.
SETS["hard"] = SETS["goals"][:4] + [
    Attention("bf16", 4, 32, length, 64, mask, keys=keys) for length, keys, mask in (
        (1000, 0, ""), (1000, 0, "causal"), (4097, 31, ""), (4097, 0, "causal"), (769, 1, ""), (577, 4097, "causal"), (192, 1000, "causal"))] + [
    Attention("f16", 4, 32, 1537, 64, "causal"), Attention("bf16", 1, 32, 1536, 64, "causal", shared=4), Attention("bf16", 1, 32, 2000, 64, "causal", shared=4),
    Attention("bf16", 1, 32, 2000, 64, "", shared=4), Attention("bf16", 4, 16, 1000, 128, "causal"), Attention("bf16", 4, 32, 1000, 64, "bias"),
    Attention("bf16", 4, 8, 1000, 256, "causal"), Attention("bf16", 4, 8, 1000, 256), Attention("bf16", 16, 32, 1, 128, shared=4, keys=8192)]
SETS["d64"] = SETS["goals"][2:4] + [Attention("bf16", 1, 32, 16384, 64), Attention("bf16", 1, 32, 16384, 64, "causal"), Attention("bf16", 16, 32, 1024, 64),
                                    Attention("bf16", 16, 32, 1024, 64, "causal"), Attention("bf16", 4, 32, 4000, 64), Attention("f16", 4, 32, 4096, 64, "causal"),
                                    Attention("bf16", 1, 64, 6144, 64, "causal", shared=8)]
# f8 beside bf16: bytes at the boundary.
SETS["f8"] = [Attention(kind, 4, 16, 4096, depth, mask) for depth in (128, 64) for mask in ("", "causal") for kind in ("f8E4M3FN", "bf16")]
# Depths that are no multiples of 64, whose last tile has some elements: of image models, of small language models.
SETS["depths"] = [Attention("bf16", 2, 4, 4096, 80)] + [Attention("bf16", 4, 16, 4096, depth, mask) for depth in (40, 72, 80, 96, 112, 160) for mask in ("", "causal")]
SETS["hard_depths"] = [Attention(kind, batch, heads, length, depth, mask, shared=shared, keys=keys) for kind, batch, heads, shared, length, depth, mask, keys in (
    ("bf16", 4, 32, 1, 1000, 80, "causal", 0), ("f16", 4, 32, 1, 1537, 40, "", 0), ("bf16", 4, 32, 1, 4097, 72, "causal", 31), ("f16", 4, 16, 1, 1000, 96, "causal", 0),
    ("bf16", 1, 32, 4, 2000, 112, "causal", 0), ("bf16", 4, 16, 1, 769, 160, "", 1), ("bf16", 4, 32, 1, 577, 80, "causal", 4097), ("f16", 2, 40, 1, 1, 80, "", 4097),
    ("bf16", 2, 16, 1, 1000, 200, "causal", 0), ("bf16", 8, 32, 1, 300, 8, "", 300), ("f16", 8, 32, 1, 257, 24, "causal", 0), ("bf16", 4, 32, 1, 1000, 80, "bias", 0),
    ("bf16", 2, 16, 2, 1001, 248, "causal", 0))]
# Causal, and so few tiles that a device waits for the last rows of each head.
SETS["few_tiles"] = [Attention("bf16", batch, heads, length, depth, "causal", shared=shared) for batch, heads, shared, length, depth in (
    (1, 12, 1, 1024, 64), (1, 8, 1, 1024, 128), (1, 32, 4, 512, 128), (1, 16, 1, 768, 80), (2, 12, 1, 577, 64), (1, 8, 1, 2000, 64))]
# Depths from 32 to 256, full and causal, of short, medium and long sequences; some with heads that share their keys, or values of other columns.
SETS["every"] = [Attention("bf16", batch, heads, length, depth, mask, shared=shared, columns=columns)
                 for batch, heads, length in ((32, 16, 512), (8, 16, 2048), (2, 16, 8192)) for mask in ("", "causal")
                 for depth, shared, columns in ((32, 1, 0), (64, 4, 0), (96, 1, 0), (128, 4, 0), (192, 1, 0), (256, 1, 0), (192, 1, 128))] + [
                 Attention("f16", 8, 16, 2048, depth, mask) for depth in (64, 128) for mask in ("", "causal")]
SETS["masks"] = [case for case in SETS["goals"] if case.mask in ("bias", "cap")]


def product(f, kind, size, a, b, of_a, of_b, out):
    """Sums over the letters that `out` lacks, in f32; size: of each letter."""
    order = out + "".join(sorted(set(of_a + of_b) - set(out)))
    start = f.fill("f32", [size[c] for c in out], 0.0)

    def widened(value, stored):
        if stored != "i8":
            return f.convert(value, stored, "f32")
        narrow = f.fresh()
        f.line(f"{narrow} = arith.bitcast {value} : i8 to {kind}")
        return f.op("arith.extf", kind, narrow, to="f32")

    def body(x, y, total):
        wide = [widened(value, tensor.kind) for value, tensor in ((x, a), (y, b))]
        return f.op("arith.addf", "f32", total, f.op("arith.mulf", "f32", *wide))

    return f.generic([(a, [order.index(c) for c in of_a]), (b, [order.index(c) for c in of_b])], [(start, range(len(out)))],
                     "".join("p" if c in out else "r" for c in order), body)[0]


def softmax(f, logits):
    """Over the last dimension."""
    start = f.empty("f32", logits.shape)
    weights = type(start)(f.fresh(), "f32", logits.shape)
    f.line(f"{weights.name} = linalg.softmax dimension({len(logits.shape) - 1}) ins({logits.name} : {logits.type}) "
           f"outs({start.name} : {start.type}) -> {start.type}")
    return weights


def dequantised(f, case, values, scales):
    """As the type that is multiplied."""
    def body(value, scale, _):
        return f.convert(f.op("arith.mulf", "f32", f.convert(value, "i8", "f32"), scale), "f32", case.wide())

    return f.generic([(values, range(4)), (scales, range(3))], [(f.empty(case.wide(), values.shape), range(4))], "pppp", body)[0]


def program(case):
    """The function `run` on queries, keys and values."""
    from mlir_text import Function  # pylint: disable=import-outside-toplevel

    f = Function("run")
    kept = "i8" if case.kind.startswith("f8") else case.kind
    kinds = (case.wide() if case.kind == "i8" else kept, kept, kept)[:2 if case.latent else 3]
    q, k, *v = (f.argument(kind, *shape) for kind, shape in zip(kinds, case.shapes()))
    v = f.slice(k, [0] * 4, case.shapes()[2]) if case.latent else v[0]
    if case.kind == "i8":
        k, v = (dequantised(f, case, x, f.argument("f32", *shape)) for x, shape in zip((k, v), case.scale_shapes()))
    loops = "bhgmn"
    size = dict(zip("bhgmd", case.shapes()[0]), n=case.key_count(), e=case.columns or case.depth)

    def logit(score):
        scaled = f.op("arith.mulf", "f32", score, f.constant("f32", 1 / math.sqrt(case.depth)))
        m, n = loops.index("m"), loops.index("n")
        if case.mask in ("causal", "last"):
            seen, row = f.fresh(), f.loop_index(m)
            if case.mask == "last":
                row = f.op("arith.addi", "index", row, f.constant("index", case.key_count() - case.length))
            f.line(f"{seen} = arith.cmpi sge, {row}, {f.loop_index(n)} : index")
            return f.select(seen, "f32", scaled, f.constant("f32", -math.inf))
        if case.mask == "bias":  # ALiBi: (n - m) / 2^(head / 2 + 1)
            away = f.op("arith.sitofp", "i32", f.op("arith.subi", "i32", f.loop_index(n, "i32"), f.loop_index(m, "i32")), to="f32")
            head = f.op("arith.sitofp", "i32", f.loop_index(loops.index("h"), "i32"), to="f32")
            power = f.op("arith.subf", "f32", f.constant("f32", -1.0), f.op("arith.mulf", "f32", head, f.constant("f32", 0.5)))
            return f.op("arith.addf", "f32", scaled, f.op("arith.mulf", "f32", away, f.op("math.exp2", "f32", power)))
        if case.mask == "cap":
            cap = f.constant("f32", 20.0)
            return f.op("arith.mulf", "f32", f.op("math.tanh", "f32", f.op("arith.divf", "f32", scaled, cap)), cap)
        return scaled

    logits = f.map("f32", logit, product(f, case.kind, size, q, k, "bhgmd", "bhnd", loops))
    narrow = f.tensor_op("arith.truncf", softmax(f, logits), kind=case.wide())
    f.give(f.tensor_op("arith.truncf", product(f, case.kind, size, narrow, v, loops, "bhne", "bhgme"), kind=case.wide()))
    return str(f)
