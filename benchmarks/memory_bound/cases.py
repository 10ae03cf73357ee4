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

# What programs ask for now and then: by operation, shapes and types.
UNCOMMON = {
    "sum_0": [((3, 10000019), "f32"), ((10000019, 3), "f32"), ((5000011, 7), "bf16"), ((7, 1000003), "f32"), ((1000, 3), "f32"),
              ((20001, 1003), "i8"), ((10007, 1001), "i64"), ((40009, 500), "f64")],
    "sum_1": [((3, 10000019), "f32"), ((3, 10000019), "bf16"), ((7, 1000, 5003), "f32"), ((100003, 7, 37), "bf16"), ((3, 1000003, 5), "f32"),
              ((1000, 10007, 3), "f32"), ((4001, 20001), "i8"), ((1001, 10007), "i64"), ((1000, 7), "f32")],
    "sum_02": [((64, 77, 5003), "f32"), ((1000, 3, 10001), "bf16"), ((7, 100003, 37), "f32"), ((50000, 33, 7), "f32")],
    "sum_13": [((33, 64, 77, 130), "f32"), ((33, 64, 77, 130), "bf16")],
    "sum_01": [((3, 10000019), "bf16")],
    "max_0": [((5000011, 7), "f32"), ((100, 200003), "bf16")], "max_01": [((3001, 10007), "bf16")],
    "prod_1": [((100003, 333), "f32")], "any_1": [((4001, 20001), "i8"), ((3, 30000001), "i8")], "all_01": [((3001, 30007), "i8")],
    "count_0": [((20001, 4001), "i8"), ((3, 10000019), "i8")], "count_1": [((1000003, 77), "i8")],
    "argmax_0": [((1003, 30011), "f32"), ((5000011, 7), "f32")], "argmax_1": [((3, 10000019), "f32"), ((100003, 5, 77), "f32"), ((8, 128256), "bf16")],
    "moments": [((3, 10000019), "f32"), ((500009, 77), "bf16"), ((300, 128256), "f32")],
    "logsumexp_0": [((128000, 64), "f32"), ((1003, 30011), "bf16")], "length": [((50000017,), "bf16"), ((1000003,), "f32")],
    "softmax_0": [((50257, 300), "f32"), ((5, 5000011), "bf16"), ((300, 77777), "f32")],
    "softmax_last": [((5000011, 5), "bf16"), ((1000003, 33), "f32"), ((3, 128256), "f32"), ((500, 128256), "bf16"), ((2, 10000019), "f32")],
    "softmax_gradient": [((1001, 50257), "bf16"), ((3000017, 5), "f32"), ((200003, 77), "f32")],
    "norm_last": [((3000017, 5), "f32"), ((3, 1000003), "bf16"), ((200003, 77), "bf16")],
    "layernorm_gradient": [((32768, 768), "bf16"), ((200003, 77), "f32"), ((3, 128256), "f32"), ((5000, 5120), "bf16")],
    "batch_norm_gradient": [((64, 128, 3136), "f32"), ((128, 100, 49), "bf16")],
    "group_norm_gradient": [((16, 32, 10, 1024), "f32"), ((8, 32, 4, 49), "bf16")],
    "loss_gradient": [((500, 128256), "bf16"), ((3, 128256), "f32"), ((100003, 77), "f32"), ((1000003, 10), "f32")],
    "turn10": [((3, 10000019), "f32"), ((10000019, 5), "bf16"), ((16, 5000011), "i8"), ((3001, 7001), "f64")],
    "turn021": [((64, 1000, 363), "i8"), ((5003, 77, 131), "f64")], "turn102": [((1000, 3, 5003), "bf16"), ((777, 1003, 5), "f32")],
    "turn0231": [((64, 3, 512, 512), "i8"), ((64, 3, 224, 224), "f32"), ((64, 3, 225, 223), "bf16")],
    "turn0312": [((64, 512, 512, 3), "i8"), ((64, 224, 224, 3), "f32"), ((100, 99, 101, 16), "f32")],
    "turn0321": [((64, 100, 5, 777), "f32")], "turn1032": [((77, 131, 16, 333), "bf16")], "turn2103": [((50, 60, 1000, 3), "f32")],
    "turn41302": [((8, 5, 12, 640, 17), "bf16"), ((16, 16, 16, 16, 300), "f32")],
    "concat_many": [((100003,), "bf16"), ((100003,), "f32"), ((100,), "f32")],
    "stack_last": [((10000019,), "f32"), ((10007, 3001), "bf16")], "every_second": [((10007, 6001), "f32"), ((10007, 8192), "bf16")],
    "every_third_row": [((30000, 1003), "bf16")], "backwards": [((10007, 4099), "f32"), ((1000003, 33), "bf16"), ((10000, 8192), "i8")],
    "rolled": [((10007, 4096), "bf16"), ((100003, 333), "f32")], "repeated": [((30011, 128), "bf16"), ((10007, 1001), "f32")],
    "doubled_image": [((16, 64, 100, 101), "f32"), ((16, 64, 128, 128), "bf16")], "rope_pairs": [((4, 1023, 24, 48), "f32"), ((4, 2048, 24, 64), "bf16")],
    "rows_by_index": [((100003, 3, 5000011), "f32"), ((1000003, 1, 20000003), "f32"), ((50000, 64, 500009), "bf16"), ((32000, 4096, 8191), "bf16")],
    "columns_by_index": [((10007, 4096, 1000), "f32")], "along_rows": [((10007, 4099, 777), "f32")],
    "scattered_rows": [((50000, 64, 300007), "f32"), ((1000, 1, 5000011), "f32"), ((32000, 1024, 8192), "bf16"), ((1000003, 3, 1000003), "f32")],
    "one_hot": [((100003, 333), "f32"), ((8192, 8192), "bf16")],
    "running_0": [((1000003, 3), "f32"), ((1003, 30011), "f32"), ((20000003,), "i64")],
    "running_1": [((1000003, 7), "f32"), ((1000, 10007, 3), "f32"), ((100003, 131), "f32"), ((3, 5000011), "f32")],
    "running_max_1": [((4001, 5003), "f32")], "experts": [((32768, 64), "f32"), ((8191, 256), "bf16")],
    "sorted_rows": [((500009, 5), "f32"), ((100003, 77), "f32"), ((3, 300007), "f32")],
    "max_pool_last": [((32, 112, 112, 64), "bf16"), ((32, 111, 113, 35), "f32")], "max_pool_first": [((32, 64, 112, 112), "bf16"), ((32, 35, 111, 113), "f32")],
    "max_pool_volume": [((8, 16, 64, 64, 64), "f32")], "mean_pool_first": [((32, 64, 112, 113), "f32")], "line_max": [((3001, 10007), "f32")],
    "bilinear": [((16, 64, 65, 64), "f32"), ((16, 129, 127, 3), "f32")],
    "sum_of_many": [((5000011,), "f32"), ((3001, 3001), "bf16")], "both_sides": [((10007, 3001), "f32"), ((1000003, 33), "bf16"), ((10000, 4096), "bf16")],
    "outer_sum": [((10007, 5003), "f32"), ((3, 20000003), "bf16")], "nibbles": [((4096, 344), "bf16"), ((11008, 128), "f32")],
    "momentum": [((20000003,), "f32"), ((20000003,), "bf16")], "counters": [((50000017,), "i32")],
    "dot": [((50000017,), "f32"), ((1000003,), "bf16")],
    "matrix_vector": [((3, 10000019), "f32"), ((5000011, 7), "f32"), ((50257, 1001), "bf16")],
    "vector_matrix": [((10000019, 3), "f32"), ((1001, 50257), "bf16"), ((7, 5000011), "f32")],
    "tiny_products": [((1000003, 3), "f32"), ((500009, 4), "f32"), ((200003, 8), "bf16"), ((100003, 16), "f32"), ((200003, 8), "f32"),
                      ((100003, 16), "bf16")],
    "tiny_vectors": [((1000003, 3), "f32"), ((300007, 8), "bf16")], "pair_distances": [((10007, 5003), "f32")]}


# What users write around their models: by operation, shapes and types.
USERS = {
    "adam_clipped": [((10000,), "f32"), ((2000003,), "f32"), ((4000000,), "bf16")], "averages": [((1000,), "f32"), ((2000003,), "f32")],
    "dropout_norm": [((8192, 1024), "bf16"), ((33, 768), "f32"), ((20011, 333), "bf16")],
    "rmsnorm_gradient": [((8192, 4096), "bf16"), ((64, 1000), "f32"), ((50021, 129), "f32")],
    "group_norm_silu": [((8, 32, 10, 4096), "bf16"), ((2, 32, 4, 49), "f32"), ((3, 7, 5, 30011), "f32")],
    "silu_gradient": [((8192, 2752), "bf16"), ((100, 333), "f32"), ((30011, 501), "bf16")],
    "columns_normal": [((100003, 100), "f32"), ((64, 1000), "f32"), ((1001, 77), "f32")], "weight_norm": [((4096, 4096), "bf16"), ((1000, 33), "f32")],
    "lstm_cell": [((64, 512), "f32"), ((8192, 1000), "bf16"), ((7001, 333), "f32")],
    "swiglu_quantised": [((8192, 5632), "bf16"), ((17, 1000), "bf16"), ((4001, 2731), "bf16")],
    "blocks_quantised": [((8192, 128), "bf16"), ((1, 1001), "bf16")], "dequantised": [((4096, 11008), "bf16"), ((10007, 1001), "bf16")],
    "smooth_gradient": [((8192, 32000), "bf16"), ((100003, 10), "f32"), ((3, 50257), "f32")],
    "divergence": [((2048, 32003), "bf16"), ((100003, 21), "f32")], "dice": [((16, 4, 100003), "f32"), ((3, 1, 1000003), "bf16"), ((64, 150, 49), "f32")],
    "focal": [((20000003,), "f32"), ((1001,), "bf16")], "cosines": [((50021, 300), "f32"), ((5, 1000003), "f32"), ((1000003, 16), "bf16")],
    "traces": [((1000, 333), "f32"), ((3, 5003), "f32")], "routing": [((8192, 64), "bf16"), ((33, 64), "f32"), ((100003, 16), "f32")],
    "places_of_experts": [((8192, 64), "i32"), ((100, 8), "i32"), ((200003, 16), "i32")],
    "combined": [((16384, 4096, 8192), "bf16"), ((100, 64, 33), "f32")], "bag": [((100003, 64, 20011), "f32"), ((1000003, 16, 100), "bf16")],
    "beams": [((8, 5, 32003), "f32"), ((1, 4, 50257), "bf16"), ((300, 3, 1000), "f32")], "overlaps": [((6000,), "f32"), ((333,), "f32")],
    "guesses": [((50021, 1000), "bf16"), ((64, 10), "f32")],
    "cache_append": [((32768, 1024, 64), "bf16"), ((1000, 64, 3), "f32")], "looked_up": [((30000001,), "bf16"), ((1001,), "f32")],
    "equalised": [((20000003,), "i8"), ((65536,), "i8")], "counted": [((10000019, 1000), "i32"), ((5003, 100003), "i32")],
    "segments": [((1000, 64, 300007), "f32"), ((100003, 3, 1000003), "f32"), ((7, 1, 5000011), "f32")],
    "planes_of_pixels": [((64, 224, 224), "bf16"), ((3, 333, 501), "f32")], "patches": [((64, 3, 14, 14), "bf16"), ((5, 3, 7, 9), "f32")],
    "pixel_unshuffle": [((16, 3, 270, 480), "f32"), ((8, 64, 55, 57), "bf16")], "reflected": [((16, 64, 100, 101), "f32"), ((32, 3, 256, 256), "bf16")],
    "shifted_windows": [((64, 56, 56, 96), "bf16"), ((2, 14, 14, 33), "f32")], "columns_of_image": [((16, 32, 66, 66), "f32"), ((3, 5, 101, 203), "bf16")],
    "image_of_columns": [((16, 32, 64, 64), "f32"), ((3, 5, 101, 203), "bf16")], "mean_pool_gradient": [((32, 64, 56, 56), "bf16"), ((3, 35, 111, 113), "f32")],
    "max_pool_gradient": [((32, 64, 56, 56), "bf16"), ((3, 35, 111, 113), "f32")], "resized": [((16, 32, 100, 100), "f32"), ((3, 5, 201, 333), "bf16")],
    "moving_mean": [((1001, 10007), "f32"), ((3, 1000003), "f32")], "complex_product": [((4001, 2049), "f32"), ((1000, 1024), "bf16")],
    "butterfly": [((4096, 1024), "f32"), ((3001, 333), "bf16")], "lower_triangle": [((96, 1024), "bf16"), ((7, 3001), "f32")],
    "chosen": [((20000003,), "f32"), ((5001, 3001), "bf16")], "discounted": [((64, 1000, 300), "f32"), ((1001, 500, 3), "f32")]}


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
    'everyday': what models compute besides; 'uncommon': what programs ask for now and then; 'users': what users
    write around models; 'misses': what was behind; 'random': so many groups drawn from a seed."""
    listed = []
    if chosen == "random":
        return [random_case(f"random_{seed}_{number}") for number in range(count)]
    if chosen == "everyday":
        return [Case(operation, shape, kind) for operation, shapes in EVERYDAY.items() for shape in shapes
                for kind in (["f32"] if operation.startswith("cumsum") else ["f32", "bf16"])]
    if chosen in ("uncommon", "users"):
        return [Case(operation, shape, kind) for operation, given in (UNCOMMON if chosen == "uncommon" else USERS).items() for shape, kind in given]
    shapes_of = {"full": SHAPES, "first": FIRST, "smoke": SMOKE, "misses": MISSES}[chosen]
    for operation, shapes in shapes_of.items():
        for kind in kinds_of(operation):
            if chosen in ("first", "misses") and kind == "f16":
                continue
            listed += [Case(operation, shape, kind) for shape in shapes]
    return listed


SMOKE = {operation: [{1: (1031,), 2: (9, 67), 3: (50, 33, 17), 4: (2, 3, 5, 8)}[len(shapes[0])]]
         for operation, shapes in SHAPES.items()}
