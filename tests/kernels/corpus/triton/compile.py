# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes triton_NAME_sm_80.ptx and some triton_NAME_sm_90a.ptx from kernels.py: python3 compile.py, with Triton from PyPI; no GPU is needed.

What is committed was made by Triton 3.9.0. Shared memory in bytes, which PTX does not tell, is printed: tests name it.
"""
import os
import pathlib

os.environ["TRITON_DISABLE_LINE_INFO"] = "1"
os.environ["TRITON_DEFAULT_FP_FUSION"] = "1"

import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

import kernels

HERE = pathlib.Path(__file__).resolve().parent
LICENCE = "// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception\n"
# Types of the parameters, in order; `:16` says that the address or number is a multiple of 16.
F32, F16, I32, I64 = "*fp32:16", "*fp16:16", "*i32:16", "*i64:16"
KERNELS = {
    "vector_add": ([F32, F32, F32, "i32"], {"BLOCK": 256}),
    "strided_copy": (["i32", "*fp16", "i64", "*fp16", "i64"], {"BLOCK": 128}),
    "row_softmax": ([F32, F32, "i32", "i32"], {"BLOCK": 512}),
    "layer_norm": ([F32] * 6 + ["i32", "fp32"], {"BLOCK": 256}),
    "welford": (["i32", F32, F32, F32], {"BLOCK": 512}),
    "matmul": ([F16, F16, F16, "i32", "i32", "i32", "i32:16", "i32:16", "i32:16"], {"M": 64, "N": 64, "K": 32, "GROUP": 4}),
    "grouped_matmul": ([I64, I64, I64, I32, "i32"], {"M": 32, "N": 32, "K": 32, "BLOCKS": 3}),
    "attention": (["fp32", F16, F16, F16, F16, F32, "i32", "i32", "i32:16", "i32:16"], {"M": 64, "N": 32, "D": 64, "CAUSAL": True}),
    "column_extremes": (["i32", "i32", "*i32", "*i32", "*i32"], {"BLOCK": 128}),
    "histogram": ([I32, I32, "i32"], {"BLOCK": 512, "BINS": 64}),
    "segment_max": ([F32, I32, "i32", F32], {"BLOCK": 256}),
    "locked_sum": ([I32, I32, F32, F32, "i32"], {"BLOCK": 256}),
    "embedding": ([I64, F16, F16, "i32:16"], {"BLOCK": 128}),
    "scatter_add": (["i32", "i32", I32, F32, F32], {"ROWS": 16, "BLOCK": 32}),
    "dropout": (["fp32", "i32", F32, F32, "*i8", "i32"], {"BLOCK": 256}),
    "random_words": ([I32, "i32", "i32"], {"BLOCK": 128}),
    "cumulative_sum": ([I32, I32, "i32"], {"BLOCK": 1024}),
    "recurrence": (["i32", F32, F32, F32], {"BLOCK": 256}),
    "arg_max": ([F32, F32, I32, "i32"], {"BLOCK": 512}),
    "sort_rows": ([I32, I32], {"BLOCK": 128}),
    "gelu": (["*bf16:16", F16, "i32"], {"BLOCK": 256}),
    "transpose": (["*i8:16", "i32", "i32", "*i8:16"], {"BLOCK": 32}),
    "cross_entropy": ([F32, I32, F32, F32, "i32", "i32"], {"BLOCK": 256}),
    "quantize_rows": ([F32, F32, "*i8:16", "i32:16"], {"BLOCK": 256}),
    "int4_matvec": (["i32", I32, F32, F32, F32, "i32", "i32"], {"R": 16, "W": 16}),
    "rope": (["i32", F32, F32, F32, "i32", "i32"], {"HALF": 128}),
    "adam": (["fp32"] * 4 + ["i32"] + [F32] * 4 + ["i32"], {"BLOCK": 256}),
    "escape_time": (["fp32", "fp32", "fp32", I32, "i32", "i32"], {"BLOCK": 256}),
}
# wgmma, and what else Triton does on Hopper only.
HOPPER = {
    "matmul": ([F16, F16, F16, "i32", "i32", "i32", "i32:16", "i32:16", "i32:16"], {"M": 64, "N": 64, "K": 64, "GROUP": 4}),
    "attention": (["fp32", F16, F16, F16, F16, F32, "i32", "i32", "i32:16", "i32:16"], {"M": 64, "N": 64, "D": 64, "CAUSAL": True}),
}


# Lanes that sum the same numbers in mirrored order would round differently with a fused multiply-add, and each of them
# writes its sum to the same place.
UNFUSED = {"int4_matvec"}


def compile_kernel(name, types, constants, capability):
    function = getattr(kernels, name)
    names = list(function.arg_names)
    signature = dict(zip(names, [t.split(":")[0] for t in types])) | {c: "constexpr" for c in constants}
    attributes = {(i,): [["tt.divisibility", 16]] for i, t in enumerate(types) if t.endswith(":16")}
    source = ASTSource(function, signature=signature, constexprs=constants, attrs=attributes)
    made = triton.compile(source, target=GPUTarget("cuda", capability, 32), options={"num_warps": 4, "num_stages": 3, "ptx_version": 84, "enable_fp_fusion": name not in UNFUSED})
    lines = [line.split("//")[0].rstrip() for line in made.asm["ptx"].splitlines()]
    text = "\n".join(line for line in lines if line) + "\n"
    target = f"sm_{capability}" + ("a" if capability >= 90 else "")
    (HERE / f"triton_{name}_{target}.ptx").write_text(LICENCE + text)
    print(f"{name} {target}: {made.metadata.shared} bytes of shared memory, {len(text)} of text")


for kernel, (argument_types, values) in KERNELS.items():
    compile_kernel(kernel, argument_types, values, 80)
for kernel, (argument_types, values) in HOPPER.items():
    compile_kernel(kernel, argument_types, values, 90)
