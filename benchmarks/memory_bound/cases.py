# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What is measured: a case is an operation, a shape and a type; `cases()` lists them."""
from collections import namedtuple

import random_groups

Case = namedtuple("Case", "operation shape kind")


def case_name(case):
    return f"{case.operation}_{'x'.join(map(str, case.shape))}_{case.kind}"


# Sizes that stay known in programs of unknown sizes: the width of an embedding is a constant of the model.
KNOWN = {"rope": [3], "swiglu": [1], "rope_rows": [3], "channel_softmax": [1], "channel_norm": [1]}


def dynamic_name(case):
    """One program with unknown sizes serves all shapes of an operation and type that agree in what stays known."""
    known = "".join(f"_{case.shape[axis]}" for axis in KNOWN.get(case.operation, []))
    return f"{case.operation}_dynamic{known}_{case.kind}"


K, M = 1 << 10, 1 << 20
RAGGED = [(65536, 1000), (65536, 1001), (65536, 4095), (65536, 4097)]
FEW_ROWS = [(16, 1024), (256, 1024), (4096, 1024)]  # 64 KiB, 1 MiB and 16 MiB of f32
# Elements of an elementwise operation: 64 KiB, 1 MiB, 16 MiB, 256 MiB, 1 GiB of f32, and a ragged number.
FLAT = [(16 * K,), (256 * K,), (4 * M,), (64 * M,), (256 * M,), (64 * M + 1,)]
NORMS = [(65536, 4096), (8192, 131072), (M, 128), (8 * M, 8)] + RAGGED + FEW_ROWS
SHAPES = {
    "add": FLAT + [(K * M,)], "chain10": FLAT, "dropout": FLAT, "adam": FLAT[:5],
    "row_sum": [(16384, 16384), (65536, 4096), (M, 128), (8 * M, 8), (128, 8 * M)] + RAGGED + FEW_ROWS,
    "column_sum": [(16384, 16384), (65536, 4096), (8 * M, 128)] + RAGGED + FEW_ROWS,
    "all_sum": FLAT, "row_max": [(16384, 16384), (65536, 4096), (65536, 1001), (256, 1024)],
    "transpose": [(16384, 16384), (65536, 4096), (65536, 1000), (65536, 1001), (16384, 4095), (16384, 4097)] + FEW_ROWS,
    "permute0213": [(64, 1024, 16, 128), (64, 1000, 16, 100), (2, 64, 8, 64)],
    "permute0231": [(64, 256, 56, 56), (64, 250, 55, 55), (2, 32, 16, 16)],
    "permute0312": [(64, 56, 56, 256), (64, 55, 55, 250), (2, 16, 16, 32)],
    "permute210": [(512, 512, 512), (500, 501, 503), (32, 32, 16)],
    "variance": [(65536, 4096), (8192, 131072), (65536, 1001), (256, 1024)],
    "batch_norm": [(64, 256, 3136), (64, 250, 3025), (8, 64, 49)],
    "batch_norm_last": [(200704, 256), (193600, 250), (392, 64)],
    "softmax": NORMS, "log_softmax": [(65536, 4096), (8192, 131072), (65536, 1001), (256, 1024)],
    "layernorm": NORMS, "rmsnorm_residual": NORMS,
    "cross_entropy": [(65536, 4096), (8192, 131072), (8192, 50257), (256, 1024)],
    "rope": [(16, 32, 4096, 128), (1, 32, 1000, 128), (1, 8, 64, 64)],
    "topk": [(1024, 131072), (64, 131072)], "cumsum": [(16384, 16384), (65536, 4096), (65536, 1001), (256, 1024)],
    "cumsum_line": [(256 * M,), (4 * M,), (16 * K,)], "cumsum_columns": [(16384, 16384), (M, 64)],
    "sort": [(65536, 1024)], "sort_line": [(M,), (16 * M,)],
    "embedding": [(50000, 1024, M), (50000, 1000, 100000), (50000, 64, 256)],
    "histogram": [(K * M,), (M,)], "concat": [(16384, 8192), (16384, 4097), (256, 512)],
    "pad": [(16384, 16384), (65536, 1001), (256, 512)],
}
# What the closing table of the issue names, and one large shape of everything else.
FIRST = {"add": [(256 * M,)], "chain10": [(256 * M,)], "dropout": [(256 * M,)], "adam": [(64 * M,)],
         "row_sum": [(16384, 16384)], "column_sum": [(16384, 16384)], "all_sum": [(256 * M,)],
         "row_max": [(16384, 16384)], "transpose": [(16384, 16384)], "permute0213": [(64, 1024, 16, 128)],
         "permute0231": [(64, 256, 56, 56)], "permute0312": [(64, 56, 56, 256)], "permute210": [(512, 512, 512)],
         "variance": [(65536, 4096)], "batch_norm": [(64, 256, 3136)], "batch_norm_last": [(200704, 256)],
         "softmax": [(65536, 4096), (8192, 131072), (M, 128), (8 * M, 8), (65536, 1001)],
         "log_softmax": [(65536, 4096)], "layernorm": [(65536, 4096)], "rmsnorm_residual": [(65536, 4096)],
         "cross_entropy": [(8192, 131072)], "rope": [(16, 32, 4096, 128)], "topk": [(1024, 131072)],
         "cumsum": [(16384, 16384)], "cumsum_line": [(256 * M,)], "cumsum_columns": [(16384, 16384)],
         "sort": [(65536, 1024)], "sort_line": [(M,)], "embedding": [(50000, 1024, M)], "histogram": [(K * M,)],
         "concat": [(16384, 8192)], "pad": [(16384, 16384)]}


# What models compute between products; sizes drawn at random, once (everyday_programs.py).
EVERYDAY = {
    "masked_softmax": [(6, 12, 517, 517)], "causal_softmax": [(48, 777, 777)], "channel_softmax": [(16, 21, 40600)],
    "logsumexp": [(4096, 30522)], "bias_gelu": [(12345, 3072)], "swiglu": [(7777, 5461)],
    "norm_residual_bias": [(9001, 1536)], "group_norm": [(16, 32, 10, 2401)], "channel_norm": [(64, 96, 3136)],
    "head_norm": [(4, 2047, 16, 64)], "unit_rows": [(40011, 640)], "quantised_rows": [(6001, 5120)],
    "middle_mean": [(128, 577, 768)], "places_mean": [(64, 56, 55, 96)], "middle_max": [(999, 77, 333)],
    "square_error": [(3001, 8003)], "argmax": [(8192, 4099), (300001, 10)], "permute0321": [(29, 96, 61, 131)],
    "permute102": [(331, 1771, 65)], "split_heads": [(8, 1001, 3, 12, 64)], "windows": [(32, 8, 7, 8, 7, 96)],
    "pixel_shuffle": [(8, 16, 2, 2, 135, 241)], "concat_middle": [(301, 37, 1003)], "affine_relu": [(47, 129, 2915)],
    "rope_rows": [(4, 1023, 24, 96)], "add_transposed": [(4001, 7003)], "cumsum_middle": [(100, 1999, 130)]}


# What was behind the best peer, or behind its goal, when it was last measured.
MISSES = {"softmax": [(8192, 131072)], "layernorm": [(M, 128)], "batch_norm": [(8, 64, 49)], "column_sum": [(65536, 1001)],
          "permute0213": [(64, 1000, 16, 100)]}


def kinds_of(operation):
    return {"histogram": ["i8"], "cumsum": ["f32"], "cumsum_line": ["f32"],
            "cumsum_columns": ["f32"], "sort": ["f32"], "sort_line": ["f32"], "topk": ["f32", "bf16"]}.get(operation, ["f32", "bf16", "f16"])


def random_case(name):
    drawn = random_groups.group(name)
    return Case(name, random_groups.first_shape(drawn), drawn.kind)


def cases(chosen="full", seed=29, count=80):
    """'first': the closing table of the issue, f32 and bf16; 'full': everything of it; 'smoke': small shapes of that;
    'everyday': what models compute besides; 'misses': what was behind; 'random': so many groups drawn from a seed."""
    listed = []
    if chosen == "random":
        return [random_case(f"random_{seed}_{number}") for number in range(count)]
    if chosen == "everyday":
        return [Case(operation, shape, kind) for operation, shapes in EVERYDAY.items() for shape in shapes
                for kind in (["f32"] if operation.startswith("cumsum") else ["f32", "bf16"])]
    shapes_of = {"full": SHAPES, "first": FIRST, "smoke": SMOKE, "misses": MISSES}[chosen]
    for operation, shapes in shapes_of.items():
        for kind in kinds_of(operation):
            if chosen in ("first", "misses") and kind == "f16":
                continue
            listed += [Case(operation, shape, kind) for shape in shapes]
    return listed


SMOKE = {operation: [{1: (1031,), 2: (9, 67), 3: (50, 33, 17), 4: (2, 3, 5, 8)}[len(shapes[0])]]
         for operation, shapes in SHAPES.items()}
