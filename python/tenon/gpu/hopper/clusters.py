# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Clusters: blocks that run at the same time, @gpu.kernel(cluster=2), and reach each other's shared memory."""
from __future__ import annotations

import dataclasses
import math
from typing import Any

from ..builder import Builder, current
from ..intrinsics import intrinsic
from ..kinds import i32
from ..memory import Memory
from ..value import Value, bounded, kind_of
from .barriers import Barrier, word


def _cluster(b: Builder, what: str) -> int:
    """The blocks of a cluster."""
    blocks = math.prod(b.cluster)
    if blocks == 1:
        raise b.error(f"{what} is asked for, and the kernel has no cluster", "write @gpu.kernel(cluster=2)")
    return blocks


@intrinsic
def cluster_rank() -> Value:
    """The number of the block in its cluster."""
    b = current("gpu.cluster_rank").b
    blocks = _cluster(b, "gpu.cluster_rank")
    place, b.place = b.place, None
    name = b.once("nvvm.read.ptx.sreg.cluster.ctarank : i32")
    b.place = place
    return bounded(name, i32, 0, blocks - 1)


@intrinsic
def cluster_arrive() -> None:
    """Says that the thread is here; what it wrote before is seen by those behind their gpu.cluster_wait()."""
    b = current("gpu.cluster_arrive").b
    _cluster(b, "gpu.cluster_arrive")
    b.line("nvvm.cluster.arrive")


@intrinsic
def cluster_wait() -> None:
    """Waits until every thread of the cluster has come to gpu.cluster_arrive()."""
    b = current("gpu.cluster_wait").b
    _cluster(b, "gpu.cluster_wait")
    b.line("nvvm.cluster.wait")


@intrinsic
def cluster_barrier() -> None:
    """Waits for every thread of the cluster; what they wrote before it, in shared memory too, all see behind it.

    A block whose shared memory others reach does not end before them: one more of these at the end of the kernel.
    """
    cluster_arrive()
    cluster_wait()


@intrinsic
def peer(what: Any, rank: Any) -> Any:
    """The same array of shared memory, or the same barrier, of the block of this rank in the cluster: gpu.peer(sums, 1)[k] is read and written,
    gpu.peer(empty[k], 1).arrive() counts there. A gpu.cluster_barrier() orders it with what that block does."""
    b = current("gpu.peer").b
    blocks = _cluster(b, "gpu.peer")
    if isinstance(rank, int) and not 0 <= rank < blocks:
        raise b.error(f"gpu.peer of rank {rank}; wanted: 0 to {blocks - 1}")
    if isinstance(what, Memory) and what.space == "shared":
        return dataclasses.replace(what, pointer=_mapped(b, what.pointer, rank), space="cluster")
    if isinstance(what, Barrier) and not what.is_peers:
        return dataclasses.replace(what, pointer=_mapped(b, what.pointer, rank), is_peers=True)
    raise b.error(f"gpu.peer of {kind_of(what)}; wanted: shared memory, or a barrier of gpu.mbarriers")


def _mapped(b: Builder, pointer: str, rank: Any) -> str:
    return b.op(f"nvvm.mapa {pointer}, {word(b, rank, 'the rank of a peer')} : !llvm.ptr<3> -> !llvm.ptr<7>")
