# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Which kernels are assembled, and what each of them is expected to be.

A case is a function whose product or attention makes the strategies choose one configuration: `choice` is what has to stand in
`tenon.strategy`, `instruction` what the kernel has to compute with. The programs are those of the benchmarks.
"""
import dataclasses
import importlib.util
import os
import sys

BENCHMARKS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "benchmarks")


def benchmark(folder, file="shapes"):
    """The cases of a benchmark, and program(case). Its files find each other by names that other benchmarks have, too."""
    name = f"{folder}_{file}"
    spec = importlib.util.spec_from_file_location(name, os.path.join(BENCHMARKS, folder, file + ".py"))
    sys.modules[name] = importlib.util.module_from_spec(spec)
    beside = os.path.join(BENCHMARKS, folder)
    sys.path.insert(0, beside)
    try:
        spec.loader.exec_module(sys.modules[name])
    finally:
        sys.path.remove(beside)  # the file may have added others
        sys.modules.pop("shapes", None)
    return sys.modules[name]


products, attentions, gradients = benchmark("gemm"), benchmark("attention"), benchmark("attention", "gradients")
weights, experts = benchmark("gemm", "weights"), benchmark("gemm", "experts")
layers, convolutions = benchmark("conv"), benchmark("conv", "programs")


@dataclasses.dataclass(frozen=True)
class Case:
    name: str
    target: str
    text: str          # a function called @name
    choice: tuple      # (name, value) of tenon.strategy
    instruction: str
    flags: tuple = ()  # of tenon-compile


def product(target, instruction, kind, layout, m, n, k=1024, *, fused="", **choice):
    shape = products.Product(kind, layout, m, n, k, fused=fused)
    name = f"{shape.name()}_{target}"
    return Case(name, target, products.program(shape).replace("@run(", f"@{name}("),
                tuple({"name": "contraction", **choice}.items()), instruction, tuple(shape.flags()))


def attention(target, instruction, *shape, rows, shared=1, keys=0):
    shape = attentions.Attention(*shape, shared=shared, keys=keys)
    name = f"{shape.name()}_{target}"
    return Case(name, target, attentions.program(shape).replace("@run(", f"@{name}("),
                (("name", "attention"), ("rows", rows)), instruction)


def step(target, instruction, *shape, rows, kind=gradients.AttentionStep, **more):
    """Attention with logarithms, and its gradients: a kernel each; or its gradients alone."""
    shape = kind(*shape, **more)
    name = f"{shape.name()}_{target}"
    return Case(name, target, gradients.program(shape).replace("@run(", f"@{name}("),
                (("name", "attention"), ("rows", rows)), instruction)


def unknown_sizes(target, instruction, **choice):
    """A product of whose sizes the program knows none: a kernel of small tiles and one of large ones."""
    name = f"unknown_{target}"
    text = f"""func.func @{name}(%a: tensor<?x?xbf16>, %b: tensor<?x?xbf16>, %c: tensor<?x?xf32>) -> tensor<?x?xf32> {{
  %p = linalg.matmul ins(%a, %b : tensor<?x?xbf16>, tensor<?x?xbf16>) outs(%c : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %p : tensor<?x?xf32>
}}
"""
    return Case(name, target, text, tuple({"name": "contraction", **choice}.items()), instruction)


# Rows and columns of a product for which a tile of Hopper's is the best.
WARPGROUP_TILES = {(128, 256): (2048, 2048), (128, 192): (1536, 1536), (128, 128): (16896, 128), (128, 64): (16384, 64),
                   (64, 256): (832, 2560), (64, 192): (1536, 3072), (64, 128): (1024, 1024), (64, 64): (512, 512)}


# For weights of few bits, for experts, and where a user asks for it.
HIGH_TILE = (256, 128)
HIGH = {"name": "contraction", "warpgroup_rows": HIGH_TILE[0], "warpgroup_columns": HIGH_TILE[1]}


def on_high_tiles():
    def case(name, text, flags=()):
        name = f"{name}_sm_90a"
        return Case(name, "sm_90a", text.replace("@run(", f"@{name}("), tuple(HIGH.items()), "wgmma.mma_async", tuple(flags))

    pin = f'tenon.tile = {{by = "wgmma", rows = {HIGH_TILE[0]}, columns = {HIGH_TILE[1]}}}'
    for kind, layout, m, k in (("bf16", "nt", 2048, 1024), ("bf16", "tn", 2040, 1000), ("f16", "nn", 2048, 1024), ("f8", "nt", 2048, 1024),
                               ("f8", "nt", 2047, 1024), ("i8", "nt", 2048, 1024), ("tf32", "nt", 2047, 1024)):
        shape = products.Product(kind, layout, m, 2048, k)
        yield case(f"{shape.name()}_high", products.program(shape).replace("]} ins(%l", f"], {pin}}} ins(%l"), shape.flags())
    for kind, form in (("i4g", "plain"), ("i8g", "plain"), ("i8c", "plain"), ("i4g", "unknown")):
        shape = weights.Weights(kind, form, 256, 14336, 4096)
        yield case(shape.name(), weights.program(shape))
    shape = experts.Experts("deepseek", 4096, *experts.MODELS["deepseek"])
    text = experts.program(shape)
    yield case(shape.program_name(), text)
    yield case(shape.program_name() + "_f16", text.replace("bf16", "f16"))
    yield case(shape.program_name() + "_f8", text.replace("xbf16>", "xf8E4M3FN>").replace(": bf16", ": f8E4M3FN").replace("to bf16", "to f8E4M3FN"))


def on_places():
    """Tiles that divide the places of images, channels first, of a layer and of its gradient by the image."""
    for kind, gradient, fused, rows, columns in (("bf16", "", True, 128, 208), ("bf16", "data", False, 256, 112), ("f16", "", False, 128, 240), ("f16", "data", False, 128, 80),
                                                 ("bf16", "", True, 256, 96)):
        shape = layers.Convolution(kind, "nchw", 32, 28, 512, 512, 1, 1, fused=fused, gradient=gradient)
        name = f"{shape.name()}_{rows}x{columns}_sm_90a"
        pin = f'tenon.tile = {{by = "wgmma", rows = {rows}, columns = {columns}}}'
        text = convolutions.program(shape).replace('"reduction"]} ins(%i', f'"reduction"], {pin}}} ins(%i').replace("@run(", f"@{name}(")
        yield Case(name, "sm_90a", text, (("name", "contraction"), ("warpgroup_rows", rows), ("warpgroup_columns", columns)), "wgmma.mma_async")


def on_warpgroups():
    def of_tile(tile, kind, layout="nt", k=1024, *, fused="", less=0):
        m, n = WARPGROUP_TILES[tile]
        return product("sm_90a", "wgmma.mma_async", kind, layout, m - less, n - less, k, fused=fused, warpgroup_rows=tile[0],
                       warpgroup_columns=tile[1], warpgroup_cluster=1)

    for tile in WARPGROUP_TILES:
        yield from (of_tile(tile, kind) for kind in ("bf16", "f8"))
    for tile in ((128, 256), (64, 128)):
        yield from (of_tile(tile, kind) for kind in ("i8", "tf32"))
    # From registers.
    yield from (of_tile(tile, "tf32", "nn") for tile in ((128, 256), (64, 128)))
    # Every order of the operands; f16; the sums of f8 left to tensor cores.
    yield from (of_tile((128, 256), "bf16", layout) for layout in ("nn", "tn", "tt"))
    yield of_tile((64, 128), "bf16", "nn")
    yield from (of_tile((128, 256), kind) for kind in ("f16", "f8fast"))
    # Tiles that the result and the sum leave half empty, with an activation; rows that no tensor map and no vector reads.
    yield of_tile((128, 256), "bf16", k=1008, fused="relu", less=8)
    yield of_tile((128, 256), "f8", k=1000, less=1)
    yield product("sm_90a", "multicast::cluster", "bf16", "nn", 8192, 8192, 8192, warpgroup_rows=128, warpgroup_columns=256,
                  warpgroup_cluster=2)
    # Sums of the last round's tiles in parts.
    yield from (product("sm_90a", "st.release.gpu", kind, "nt", 1024, 10240, 8192, fused=fused, warpgroup_rows=128, warpgroup_columns=256, parts=2)
                for kind, fused in (("bf16", ""), ("bf16", "gelu"), ("f8", ""), ("tf32", "")))
    # Consumers that have tiles in turn.
    yield from (product("sm_90a", "bar.arrive", "bf16", layout, m, 3072, 768, fused=fused, warpgroup_rows=rows, warpgroup_columns=columns, tiles=2)
                for layout, fused, m, rows, columns in (("nt", "steps_gelu", 6304, 64, 256), ("nn", "steps_silu", 4096, 128, 128),
                                                        ("tt", "steps_tanh", 4096, 128, 128)))
    # Sums of all tiles in parts, of which each block of a cluster has one.
    yield from (product("sm_90a", "barrier.cluster", kind, layout, 77, 4480, 4880, warpgroup_rows=rows, warpgroup_columns=columns, deep=3)
                for kind, layout, rows, columns in (("bf16", "nt", 128, 128), ("f16", "nn", 64, 256)))
    # Few rows, whose tiles lie side by side.
    yield from (product("sm_90a", "multicast::cluster", kind, "nt", rows, columns, 4096, warpgroup_rows=64, warpgroup_columns=128, warpgroup_cluster=4)
                for kind, rows, columns in (("bf16", 40, 28672), ("f8", 64, 57344)))
    # As wide as one round of blocks makes them, alone and shared.
    yield from (product("sm_90a", "wgmma.mma_async", kind, "nt", rows, columns, 4096, warpgroup_rows=height, warpgroup_columns=width)
                for kind, rows, columns, height, width in (("bf16", 70, 6144, 128, 48), ("bf16", 130, 6144, 64, 144), ("bf16", 24, 14336, 64, 112)))
    yield product("sm_90a", "barrier.cluster", "f8", "nt", 64, 6144, 4096, warpgroup_rows=64, warpgroup_columns=96, deep=2)
    yield unknown_sizes("sm_90a", "wgmma.mma_async", warpgroup_rows=128, warpgroup_columns=128)


def on_other_cores():
    sizes = {(128, 128): (2048, 2048), (128, 64): (1024, 1024), (64, 64): (512, 512)}
    for (rows, columns), (m, n) in sizes.items():
        yield product("sm_80", "mma.sync", "bf16", "nt", m, 768 if (rows, columns) == (128, 64) else n, rows=rows, columns=columns)
        # f32 without rounding: no tensor core.
        yield product("sm_80", "fma.rn.f32", "f32", "nt", m, n, rows=rows, columns=columns, threads=128 if rows == 128 else 256)
    yield product("sm_80", "mma.sync", "i8", "nt", 2048, 2048, rows=128, columns=64)
    yield product("sm_80", "mma.sync", "tf32", "nt", 2048, 2048, rows=128, columns=128)
    yield from (product("sm_80", "mma.sync", kind, "nt", 4096, 4096, 4096, rows=128, columns=256) for kind in ("bf16", "i8", "tf32"))
    yield product("sm_80", "mma.sync", "f16", "tn", 2048, 2048, rows=128, columns=128)
    yield product("sm_80", "mma.sync", "bf16", "nt", 2047, 2047, 999, rows=128, columns=128)
    yield unknown_sizes("sm_80", "mma.sync", rows=128, columns=128)
    for target in ("sm_80", "sm_90a"):
        yield product(target, "fma.rn.f32", "f32", "nn", 1024, 1024, rows=64, columns=128, threads=128)
        yield product(target, "mma.sync", "f64", "nn", 512, 512, rows=64, columns=64)
        yield from (product(target, "mma.sync", "f64", layout, 2048, 2048, rows=128, columns=64) for layout in ("nn", "tt"))
        yield from (product(target, "mma.sync", "bf16", "nt", few, 4096, 4096, name="skinny") for few in (1, 16))
        yield product(target, "fma.rn.f32", "f32", "nt", 16, 4096, 4096, name="skinny")


def of_attention():
    for depth in (64, 128, 256):
        yield attention("sm_90a", "wgmma.mma_async", "bf16", 4, 16, 4096, depth, rows=128)
        yield attention("sm_80", "mma.sync", "bf16", 4, 16, 4096, depth, rows=64 if depth == 256 else 128)
    yield from (step("sm_90a", "wgmma.mma_async", "bf16", 4, 16, 4096, depth, rows=128) for depth in (64, 128))
    yield step("sm_90a", "wgmma.mma_async", "bf16", 1, 32, 8192, 128, True, rows=128, kind=gradients.AttentionGradient, shared=4)
    yield step("sm_90a", "wgmma.mma_async", "bf16", 8, 16, 1002, 128, True, rows=128, kind=gradients.AttentionGradient, shared=4)
    yield step("sm_90a", "wgmma.mma_async", "bf16", 32, 12, 256, 64, rows=128, kind=gradients.AttentionGradient)
    # Lengths that no block divides, below a diagonal: both hide keys.
    for length, depth in ((1111, 64), (1000, 128)):
        yield step("sm_90a", "wgmma.mma_async", "bf16", 8, 16, length, depth, True, rows=128, kind=gradients.AttentionGradient)
    for target in ("sm_80", "sm_90a"):
        yield attention(target, "mma.sync", "bf16", 1, 32, 1, 128, rows=64, shared=4, keys=8192)


def cases():
    yield from on_warpgroups()
    yield from on_high_tiles()
    yield from on_places()
    yield from on_other_cores()
    yield from of_attention()
