# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A kernel's Python as a gpu.func."""
from __future__ import annotations

import ast
import dataclasses
from typing import Any

from .builder import Builder, Mapped, Needed, active
from .errors import KernelError
from .interpreter import Interpreter
from .memory import Memory, dense
from .parameters import Extent, Parameter
from .source import Source
from .kinds import i1, i8
from .value import Value


@dataclasses.dataclass(frozen=True)
class Traced:
    """`text`: the kernel as it stands in a gpu.module; `alignments`: bytes that arrays are multiples of; `needed`: the architecture, and what
    for; `maps`: tensor maps, which are parameters behind the others."""

    text: str
    dynamic_shared_bytes: int
    alignments: dict[str, int]
    needed: Needed
    maps: tuple[Mapped, ...]
    cluster: tuple[int, int, int]

    @property
    def module(self) -> str:
        """A file that `#hal.executable.object<{path = "kernel.mlir"}>` names."""
        return f"gpu.module @kernels {{\n{self.text}\n}}\n"


def trace(name: str, source: Source, names: dict[str, Any], parameters: tuple[Parameter, ...], generics: dict[str, Any],
          block: tuple[int, int, int], cluster: tuple[int, int, int], min_blocks: int | None = None) -> Traced:
    """Runs a kernel's body once. KernelError: it says what is not supported."""
    b = Builder(name, block, cluster, min_blocks)
    b.place = source.place(source.tree)
    given, env = [], dict(generics)
    if not name.isascii():
        raise b.error(f"the kernel's name '{name}' is not of ASCII's letters, which PTX has")
    if name.startswith("__"):
        raise b.error(f"the kernel's name '{name}' begins with '__', as the device library's functions do")
    called = {one.name: f"%{one.name}" if one.name.isascii() else f"%parameter.{at}" for at, one in enumerate(parameters)}
    for one in parameters:
        if one.access:
            given.append(f"{called[one.name]}: !llvm.ptr<1>")
            continue
        kind = "i8" if one.dtype == i1 else one.dtype.mlir
        given.append(f"{called[one.name]}: {kind}")
        env[one.name] = Value(called[one.name], one.dtype)
        if one.dtype == i1:
            env[one.name] = Value(b.op(f"arith.cmpi ne, {called[one.name]}, {b.constant(0, i8)} : i8"), i1)
    with active(_Front(b)):
        for one in parameters:
            if one.access:
                shape = tuple(env[extent.name] if isinstance(extent, Extent) else extent for extent in one.shape)
                env[one.name] = Memory(b, one.name, called[one.name], "global", one.dtype, shape, dense(shape, b), is_read_only=one.access == "in")
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Return) and node.value is not None and not (isinstance(node.value, ast.Constant) and node.value.value is None):
            raise KernelError(source.place(node), "a kernel returns a value", "write it to an array")
    interpreter = Interpreter(b, source, names, env)
    try:
        with active(interpreter):
            interpreter.run(source.body)
    except KernelError:
        raise
    except RecursionError:
        raise b.error("expressions or calls are too deep for Python's own stack") from None
    except Exception as error:
        raise b.error(f"tenon.gpu fails on this, which is a mistake of its own: {type(error).__name__}: {error}", "report it, with the kernel") from error
    b.place = source.place(source.tree)
    if cluster != (1, 1, 1):
        b.need(90, "a cluster of blocks")
    text = b.function(", ".join(given))
    return Traced(text, b.dynamic_shared_bytes(), dict(b.alignments), b.needed, tuple(b.maps), cluster)


class _Front:
    def __init__(self, b: Builder) -> None:
        self.b = b
