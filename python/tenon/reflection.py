# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What functions and kernels take and give, as dataclasses."""
from __future__ import annotations

import dataclasses
from collections.abc import Iterable

from ._core.native import Function, Kernel
from .views import table_html


@dataclasses.dataclass(frozen=True)
class TypeInfo:
    """A tensor or a scalar of a function. `shape`: None of a scalar, -1 for an extent that is known at the call. An input
    whose `element` is "any" is not read: it has no shape, and whatever is given for it does. An input that is `donated` may be
    written, one that is `updated` is what the function assigns to; `input`, of a result: the donated one that it comes back in."""

    name: str
    element: str
    shape: tuple[int, ...] | None
    donated: bool = False
    updated: bool = False
    input: int | None = None

    def __str__(self) -> str:
        if self.shape is None:
            return self.element
        return f"{self.element}[{', '.join('?' if extent < 0 else str(extent) for extent in self.shape)}]"


@dataclasses.dataclass(frozen=True)
class FunctionInfo:
    """A function of a program. `runs_on_host`: it branches, reads back or keeps state: a stream
    captures it only where shapes and numbers decide which branch is taken."""

    name: str
    documentation: str
    inputs: tuple[TypeInfo, ...]
    results: tuple[TypeInfo, ...]
    runs_on_host: bool
    has_expectations: bool

    @classmethod
    def of(cls, function: Function) -> FunctionInfo:
        name, documentation, inputs, results, runs_on_host, has_expectations = function.info

        def types(given: Iterable[tuple[str, str, bool, tuple[int, ...], bool, bool, int]]) -> tuple[TypeInfo, ...]:
            return tuple(TypeInfo(label, element, None if is_scalar else shape, donated, updated, None if place < 0 else place)
                         for label, element, is_scalar, shape, donated, updated, place in given)

        return cls(name, documentation, types(inputs), types(results), runs_on_host, has_expectations)

    def __str__(self) -> str:
        given = ", ".join(map(str, self.results))
        named = ", ".join(f"{one.name}: {one}" if one.name else str(one) for one in self.inputs)
        return f"{self.name}({named}) -> {given if len(self.results) == 1 else f'({given})'}"

    def _repr_html_(self) -> str:
        rows = [(f"input {number}", one.name, one) for number, one in enumerate(self.inputs)]
        rows += [(f"result {number}", one.name, one) for number, one in enumerate(self.results)]
        return table_html(("", "name", "type"), rows, caption=f"{self}: {self.documentation}" if self.documentation else str(self))


@dataclasses.dataclass(frozen=True)
class ParameterInfo:
    """A parameter of a kernel. `kind`: binding, word, scalar, struct or tensor_map; `element`: None where not declared."""

    name: str
    kind: str
    element: str | None
    read_only: bool
    alignment: int
    size: int

    def __str__(self) -> str:
        kind = {"binding": f"{'in' if self.read_only else 'inout'} {self.element or '?'}", "word": "word"}.get(self.kind, self.element or self.kind)
        return f"{kind} {self.name}".rstrip()


@dataclasses.dataclass(frozen=True)
class KernelInfo:
    """An export of an executable, its parameters in the kernel's order."""

    name: str
    parameters: tuple[ParameterInfo, ...]
    workgroup_size: tuple[int, int, int]
    dynamic_shared_bytes: int

    @classmethod
    def of(cls, kernel: Kernel) -> KernelInfo:
        name, parameters, workgroup_size, dynamic_shared_bytes = kernel.info
        return cls(name, tuple(ParameterInfo(*one) for one in parameters), workgroup_size, dynamic_shared_bytes)

    def __str__(self) -> str:
        return f"{self.name}({', '.join(map(str, self.parameters))})"

    def _repr_html_(self) -> str:
        rows = ((one.name, one.kind, one.element or "", "read" if one.read_only else "" if one.kind != "binding" else "written", one.size,
                 one.alignment) for one in self.parameters)
        threads = " x ".join(map(str, self.workgroup_size))
        return table_html(("parameter", "kind", "elements", "access", "bytes", "alignment"), rows,
                          caption=f"{self.name}, {threads} threads, {self.dynamic_shared_bytes} bytes of dynamic shared memory")
