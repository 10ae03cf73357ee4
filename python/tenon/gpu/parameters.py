# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a kernel takes, as its signature says it: `A: gpu.In[f32, M, K]`, `n: gpu.i32`."""
from __future__ import annotations

import ast
import dataclasses
from typing import Any

from .errors import KernelError
from .source import Source
from .kinds import Scalar


class _Array:
    """gpu.In[dtype, extents...]: what the kernel does with an array, its elements, its shape.

    An extent is a number, a size, the name of an integer parameter, or `...`, which only the first may be: it is not known.
    """

    access = "in"

    def __init__(self, dtype: Any, shape: tuple[Any, ...]) -> None:
        self.dtype, self.shape = dtype, shape

    def __class_getitem__(cls, given: Any) -> _Array:
        listed = given if isinstance(given, tuple) else (given,)
        return cls(listed[0], tuple(listed[1:]))


class In(_Array):
    """An array that the kernel only reads; the linker proves that it does not write it."""


class Out(_Array):
    """An array that the kernel writes."""

    access = "out"


class InOut(_Array):
    """An array that the kernel reads and writes."""

    access = "inout"


@dataclasses.dataclass(frozen=True)
class Extent:
    """An extent that a parameter says."""

    name: str


@dataclasses.dataclass(frozen=True)
class Parameter:
    """`access`: "in", "out", "inout" of an array, "" of a number. `shape`: a number, an Extent, or None where not known."""

    name: str
    dtype: Scalar
    access: str
    shape: tuple[int | Extent | None, ...] = ()

    @property
    def c_type(self) -> str:
        """As CUDA C++ has it."""
        named = {"i1": "bool", "i8": "signed char", "i16": "short", "i32": "int", "i64": "long long", "f16": "__half", "bf16": "__nv_bfloat16",
                 "f32": "float", "f64": "double"}[self.dtype.name]
        return f"{'const ' if self.access == 'in' else ''}{named} *" if self.access else named


def generics_of(source: Source) -> list[tuple[str, ast.expr | None]]:
    """The names of what a kernel is made for, with defaults: [M, N] behind its name, or its keyword-only parameters."""
    tree = source.tree
    listed: list[tuple[str, ast.expr | None]] = []
    for one in getattr(tree, "type_params", ()):
        if type(one).__name__ != "TypeVar" or one.bound is not None:
            raise KernelError(source.place(one), "a size or a type in brackets is a plain name", "write def kernel[M, N](...)")
        listed.append((one.name, getattr(one, "default_value", None)))
    return listed + [(one.arg, default) for one, default in zip(tree.args.kwonlyargs, tree.args.kw_defaults)]


def parameters_of(source: Source, names: dict[str, Any], generics: dict[str, Any]) -> tuple[Parameter, ...]:
    """The parameters for these sizes and types."""
    arguments = source.tree.args
    if arguments.vararg or arguments.kwarg:
        raise KernelError(source.place(source.tree), "* and ** are not supported in the signature of a kernel", "name each parameter")
    if arguments.defaults:
        raise KernelError(source.place(arguments.defaults[0]), "a parameter of a kernel has no default",
                          "make it keyword-only (behind *): what the kernel is made for")
    listed = [*arguments.posonlyargs, *arguments.args]
    known = {one.arg: Extent(one.arg) for one in listed}
    out: list[Parameter] = []
    for one in listed:
        place = source.place(one)
        if one.annotation is None:
            raise KernelError(place, f"parameter '{one.arg}' says no type", f"write {one.arg}: gpu.In[f32, M, N], gpu.Out[...] or gpu.InOut[...] of an "
                              f"array, {one.arg}: gpu.i32 of a number")
        given = _evaluate(source, one.annotation, {**names, **known, **generics}, one.arg)
        if isinstance(given, Scalar):
            out.append(Parameter(one.arg, given, ""))
        elif isinstance(given, _Array):
            out.append(Parameter(one.arg, given.dtype, given.access, _shape(source, one, given, {**names, **known, **generics})))
        else:
            raise KernelError(source.place(one.annotation), f"parameter '{one.arg}' is {given!r}; wanted: gpu.In, gpu.Out or gpu.InOut, or a type of tenon.gpu")
    numbers = {one.name for one in out if not one.access and one.dtype.kind == "int"}
    for argument, made in zip(listed, out):
        wrong = [extent.name for extent in made.shape if isinstance(extent, Extent) and extent.name not in numbers]
        if wrong:
            raise KernelError(source.place(argument), f"an extent of '{made.name}' is '{wrong[0]}'; wanted: a size, or a parameter that is an integer")
    return tuple(out)


def _evaluate(source: Source, node: ast.expr, names: dict[str, Any], parameter: str) -> Any:
    try:
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            return eval(node.value.strip(), names)
        return eval(compile(ast.Expression(node), source.file, "eval"), names)
    except Exception as error:
        raise KernelError(source.place(node), f"the type of parameter '{parameter}': {type(error).__name__}: {error}") from None


def _shape(source: Source, argument: ast.arg, given: _Array, names: dict[str, Any]) -> tuple[int | Extent | None, ...]:
    place = source.place(argument)
    if not isinstance(given.dtype, Scalar):
        raise KernelError(place, f"the elements of '{argument.arg}' are {given.dtype!r}; wanted: a type of tenon.gpu, as gpu.f32")
    if not given.shape:
        raise KernelError(place, f"the shape of '{argument.arg}' is missing", f"write gpu.In[{given.dtype}, n], or gpu.In[{given.dtype}, ...] where it is not known")
    shape: list[int | Extent | None] = []
    for number, extent in enumerate(given.shape):
        if isinstance(extent, str):
            extent = _evaluate(source, ast.copy_location(ast.Constant(extent), argument), names, argument.arg)
        if extent is ... and number == 0:
            shape.append(None)
        elif isinstance(extent, Extent) or (isinstance(extent, int) and not isinstance(extent, bool) and extent > 0):
            shape.append(extent)
        else:
            what = "'...'" if extent is ... else repr(extent)
            raise KernelError(place, f"extent {number} of '{argument.arg}' is {what}; wanted: a number above 0, or the name of an integer parameter"
                              + ("; only the first may be '...'" if extent is ... else ""))
    return tuple(shape)
