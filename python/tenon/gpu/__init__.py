# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels written in Python, as MLIR's gpu dialect: objects like any other, compiled ahead, proved, run with no GPU.

    from tenon import gpu

    @gpu.kernel(block=128)
    def saxpy(x: gpu.In[gpu.f32, "n"], y: gpu.InOut[gpu.f32, "n"], a: gpu.f32, n: gpu.i32):
        i = gpu.global_id.x
        if i < n:
            y[i] += a * x[i]

    saxpy(x, y, 2.0, len(x), grid=8)
"""
from typing import TYPE_CHECKING

from .arrays import load, local, shared, splat, vector
from .errors import KernelError, Place
from .expressions import StaticRange as static_range
from .hopper.barriers import Barrier, Barriers, mbarriers
from .hopper.clusters import cluster_arrive, cluster_barrier, cluster_rank, cluster_wait, peer
from .hopper.tensor_maps import TensorMap, fence_async, store_commit, store_wait, tensor_map
from .hopper.warpgroup import Rounded, Sums, give_registers, sums, take_registers, wgmma, wgmma_wait
from .kernel import Generic, Kernel, kernel
from .mathematics import (bitcast, ceil, cos, erf, exp, exp2, fabs, floor, fma, fmax, fmin, log, log2, log10, pow, rsqrt, sin, sqrt, tan, tanh,
                          where)
from .matrix import copy_async, copy_commit, copy_wait, load_matrices, mma
from .threads import (atomic_add, atomic_and, atomic_compare_exchange, atomic_exchange, atomic_max, atomic_min, atomic_or, atomic_xor, barrier,
                      block_dim, block_id, global_id, grid_dim, lane_id, shuffle, shuffle_down, shuffle_up, shuffle_xor, sync_warp,
                      thread_id, warp_id)

if TYPE_CHECKING:
    from .typed import In, InOut, Out, bf16, f16, f32, f64, i1, i8, i16, i32, i64
else:
    from .kinds import bf16, f16, f32, f64, i1, i8, i16, i32, i64
    from .parameters import In, InOut, Out

__all__ = [
    "Barrier", "Barriers", "Generic", "In", "InOut", "Kernel", "KernelError", "Out", "Place", "Rounded", "Sums", "TensorMap", "atomic_add",
    "atomic_and", "atomic_compare_exchange", "atomic_exchange", "atomic_max", "atomic_min", "atomic_or", "atomic_xor", "barrier", "bf16", "bitcast",
    "block_dim", "block_id", "ceil", "cluster_arrive", "cluster_barrier", "cluster_rank", "cluster_wait", "copy_async", "copy_commit", "copy_wait",
    "cos", "erf", "exp", "exp2", "f16", "f32", "f64", "fabs", "fence_async", "floor", "fma", "fmax", "fmin", "give_registers", "global_id",
    "grid_dim", "i1", "i16", "i32", "i64", "i8", "kernel", "lane_id", "load", "load_matrices", "local", "log", "log10", "log2", "mbarriers", "mma",
    "peer", "pow", "rsqrt", "shared", "shuffle", "shuffle_down", "shuffle_up", "shuffle_xor", "sin", "splat", "sqrt", "static_range", "store_commit",
    "store_wait", "sums", "sync_warp", "take_registers", "tan", "tanh", "tensor_map", "thread_id", "vector", "warp_id", "wgmma", "wgmma_wait",
    "where",
]
