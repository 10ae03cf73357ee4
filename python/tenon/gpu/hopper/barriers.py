# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""mbarriers: what threads wait at for copies that run beside them.

A barrier goes through phases. A phase is over when as many arrivals have come as `init` said, and as many bytes as were expected;
then the next begins. Phases are told apart by their parity: the first is 0, the next 1, the next 0 again. `wait(0)` therefore goes on
when the first phase is over, and `wait(1)` at a new barrier at once, as if a phase before the first were over. In a ring of stages,
turn t uses stage t % n and waits for parity t // n % 2.
"""
from __future__ import annotations

import dataclasses
from typing import Any

from ..arithmetic import as_value, cast
from ..builder import Builder, current
from ..intrinsics import intrinsic
from ..kinds import Vector, i1, i32
from ..value import Handle, Value, kind_of
from .tiles import is_value


def word(b: Builder, given: Any, what: str) -> str:
    """An integer as a register of 32 bits."""
    if not is_value(given):
        raise b.error(f"{what} is {kind_of(given)}; wanted: an integer")
    return cast(b, as_value(b, given), i32).name if isinstance(given, Value) else b.constant(given, i32)


@dataclasses.dataclass(frozen=True)
class Barrier(Handle):
    """A barrier of gpu.mbarriers(count): barriers[k]."""

    b: Builder
    name: str
    pointer: str  # in shared memory, or in a peer's
    is_peers: bool = False

    def describe(self) -> str:
        return f"a barrier of {self.name}{', of a peer,' if self.is_peers else ''}"

    def _own(self, what: str) -> tuple[str, str, str]:
        if self.is_peers:
            raise self.b.error(f"{what} of a peer's barrier is not supported; wanted: arrive")
        return (self.pointer, "!llvm.ptr<3>", "r")

    @intrinsic
    def arrive(self) -> None:
        """One arrival, of the thread that calls it. What the thread did before is seen by those who wait for the phase."""
        b = self.b
        if self.is_peers:
            b.assembly("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [$0];", [(self.pointer, "!llvm.ptr<7>", "r")])
        else:
            b.assembly("mbarrier.arrive.shared.b64 _, [$0];", [(self.pointer, "!llvm.ptr<3>", "r")])

    @intrinsic
    def expect(self, bytes: Any) -> None:
        """One arrival; the phase waits for so many bytes of copies as well."""
        own = self._own("expect")
        if isinstance(bytes, int) and not 0 <= bytes < 1 << 20:
            raise self.b.error(f"a barrier expects {bytes} bytes; wanted: 0 to {(1 << 20) - 1}")
        self.b.assembly("mbarrier.arrive.expect_tx.shared.b64 _, [$0], $1;", [own, (word(self.b, bytes, "what a barrier expects"), "i32", "r")])

    @intrinsic
    def wait(self, parity: Any) -> None:
        """Waits until the phase of this parity (0 or 1) is over. What those who arrived did before, and what was copied, is seen."""
        b = self.b
        b.assembly("{\n.reg .pred done;\nagain:\nmbarrier.try_wait.parity.shared.b64 done, [$0], $1;\n@!done bra again;\n}",
                   [self._own("wait"), (self._parity(parity), "i32", "r")])

    @intrinsic
    def test(self, parity: Any) -> Value:
        """Whether the phase of this parity is over; does not wait."""
        b = self.b
        found = b.assembly("{\n.reg .pred done;\nmbarrier.test_wait.parity.shared.b64 done, [$1], $2;\nselp.b32 $0, 1, 0, done;\n}",
                           [self._own("test"), (self._parity(parity), "i32", "r")], [("i32", "r")])
        return Value(b.op(f"arith.trunci {found[0]} : i32 to i1"), i1)

    def _parity(self, parity: Any) -> str:
        b = self.b
        if isinstance(parity, Value) and not isinstance(parity.type, Vector) and parity.type == i1:
            return b.op(f"arith.extui {parity.name} : i1 to i32")
        if isinstance(parity, int) and parity not in (0, 1):
            raise b.error(f"the parity of a phase is {parity}; wanted: 0 or 1")
        low, high = parity.bounds if is_value(parity) and isinstance(parity, Value) else (0, 1)
        if (low, high) != (0, 1) and not 0 <= low <= high <= 1:
            raise b.error(f"the parity of a phase is from {low} to {high}; wanted: 0 or 1", "write turn // stages % 2")
        return word(b, int(parity) if isinstance(parity, bool) else parity, "the parity of a phase")


@dataclasses.dataclass(frozen=True)
class Barriers(Handle):
    """What gpu.mbarriers(count) gives: barriers[k] is one, whose number may be the kernel's."""

    b: Builder
    name: str
    pointer: str
    count: int

    def describe(self) -> str:
        return f"the {self.count} barriers of {self.name}"

    def get(self, indices: tuple[Any, ...]) -> Any:
        b = self.b
        if len(indices) != 1 or not is_value(indices[0]):
            raise b.error(f"a barrier is asked for by {', '.join(map(kind_of, indices))}; wanted: its number")
        index = indices[0]
        low, high = (index, index) if isinstance(index, int) else index.bounds
        if low >= self.count or high < 0 or (isinstance(index, int) and index < 0):
            raise b.error(f"barrier {low} of {self.count}; wanted: 0 to {self.count - 1}")
        at = f"llvm.getelementptr {self.pointer}"
        if isinstance(index, int):
            return Barrier(b, self.name, b.op(f"{at}[{index}] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i64"))
        return Barrier(b, self.name, b.op(f"{at}[{word(b, index, '')}] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i64"))

    @intrinsic
    def init(self, arrivals: int) -> None:
        """Makes them: each of their phases takes so many arrivals. One thread does it, once, before gpu.barrier() (in a cluster
        gpu.cluster_barrier()) shows them to the others."""
        b = self.b
        if not isinstance(arrivals, int) or isinstance(arrivals, bool) or not 1 <= arrivals < 1 << 20:
            raise b.error(f"a phase takes {kind_of(arrivals)} arrivals; wanted: 1 to {(1 << 20) - 1}")
        for at in range(self.count):
            b.assembly("mbarrier.init.shared.b64 [$0], $1;", [(self.get((at,)).pointer, "!llvm.ptr<3>", "r"), (b.constant(arrivals, i32), "i32", "r")])
        # Copies that count at a barrier look at it in another way than threads.
        b.assembly("fence.mbarrier_init.release.cluster;")


@intrinsic
def mbarriers(count: int) -> Barriers:
    """`count` barriers in shared memory for copies that run beside the threads, not yet made: one thread calls init(arrivals).

    barriers[k] is one of them, with arrive(), expect(bytes), wait(parity), test(parity). A phase is over when all arrivals and all bytes that
    were expected have come; parities of phases are 0, 1, 0, 1, ... Needs sm_90.
    """
    b = current("gpu.mbarriers").b
    if not isinstance(count, int) or isinstance(count, bool) or not 1 <= count <= 1024:
        raise b.error(f"gpu.mbarriers makes {kind_of(count)} barriers; wanted: 1 to 1024")
    b.need(90, "gpu.mbarriers")
    return Barriers(b, f"shared_{len(b.shared)}", b.share(8 * count, 8), count)
