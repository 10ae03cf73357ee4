# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels and functions of programs as PyTorch operators: torch.compile keeps them whole, autograd can be told of them.

    saxpy = tenon.torch_op("mylib::saxpy", k, grid=lambda x, y, a, n: (n + 127) // 128)
    saxpy(x, y, 2.0, n)                      # writes y: the operator's schema says so

    add = tenon.torch_op("mylib::add", k, grid=..., results={"out": lambda x, y: torch.empty_like(x)})
    out = add(x, y)                          # `out` is made by the operator, and by its fake implementation

    mul = tenon.torch_op("mylib::mul", program.mul, fake=lambda a, b: torch.empty_like(a))
"""
from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from ._core.native import Function, Kernel
from .reflection import FunctionInfo, KernelInfo

_INTEGERS = {"i8", "i16", "i32", "i64", "index"}


def _number_type(element: str | None) -> str:
    if element == "i1":
        return "bool"
    return "SymInt" if element in _INTEGERS else "float"


def _names(given: list[str]) -> list[str]:
    """Names that are identifiers and differ, as a schema wants them."""
    out: list[str] = []
    for number, name in enumerate(given):
        text = name if re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", name) and name not in ("self", "out") else f"arg{number}"
        out.append(text if text not in out else f"arg{number}")
    return out


def torch_op(name: str, call: Any, *, grid: Any = None,
             results: Mapping[str, Callable[..., Any]] | None = None, fake: Callable[..., Any] | None = None,
             backward: Callable[..., Any] | None = None, setup_context: Callable[..., Any] | None = None) -> Any:
    """A torch.library custom operator "namespace::name" of a kernel (tenon.cuda_kernel's, tenon.gpu's) or of a program's function.

    Of a kernel: `grid`, as numbers or as a function of the operator's arguments; bindings that are not read only are
    mutated, unless `results` names them: then the operator makes them by these functions of its arguments, in the
    kernel's order, and returns them. Of a function: `fake` makes empty results from the arguments; where all shapes are
    static it may be left out. `backward` and `setup_context`: torch.library's register_autograd.
    """
    import torch

    call = call.load() if hasattr(call, "load") else call  # one of tenon.gpu
    if isinstance(call, Function):
        schema, run, shapes = _of_function(call, fake)
    else:
        schema, run, shapes = _of_kernel(call, grid if grid is not None else call.grid, dict(results or {}))
    namespace, _, local = name.partition("::")
    if not local:
        raise ValueError(f"an operator's name is 'namespace::name', not {name!r}")
    torch.library.define(name, schema)
    torch.library.impl(name, "default", run)
    torch.library.register_fake(name, shapes)
    if backward is not None:
        torch.library.register_autograd(name, backward, setup_context=setup_context)
    return getattr(getattr(torch.ops, namespace), local).default


def _of_kernel(kernel: Kernel, grid: Any, results: dict[str, Callable[..., Any]]) -> tuple[str, Any, Any]:
    info = KernelInfo.of(kernel)
    labels = _names([one.name for one in info.parameters])
    unknown = set(results) - {one.name for one in info.parameters if one.kind == "binding" and not one.read_only}
    if unknown:
        raise ValueError(f"results: kernel '{info.name}' has no written binding {', '.join(sorted(unknown))}")
    if grid is None:
        raise ValueError(f"an operator of kernel '{info.name}' needs grid=, numbers or a function of its arguments")
    declared = []
    mutated = 0
    for label, one in zip(labels, info.parameters):
        if one.name in results:
            continue
        if one.kind == "binding":
            if one.read_only:
                declared.append(f"Tensor {label}")
            else:
                declared.append(f"Tensor({chr(ord('a') + mutated)}!) {label}")
                mutated += 1
        elif one.kind in ("scalar", "word"):
            declared.append(f"{_number_type(one.element or 'i32')} {label}")
        else:
            raise ValueError(f"parameter '{one.name}' of kernel '{info.name}' is a {one.kind}, which an operator cannot take")
    made_at = [number for number, one in enumerate(info.parameters) if one.name in results]
    makers = [results[info.parameters[number].name] for number in made_at]
    returned = {0: "()", 1: "Tensor"}.get(len(made_at), f"({', '.join(['Tensor'] * len(made_at))})")

    def empty(*arguments: Any) -> Any:
        made = [make(*arguments) for make in makers]
        return None if not made else made[0] if len(made) == 1 else tuple(made)

    def run(*arguments: Any) -> Any:
        made = [make(*arguments) for make in makers]
        full = list(arguments)
        for number, one in zip(made_at, made):
            full.insert(number, one)
        kernel(*full, grid=grid(*arguments) if callable(grid) else grid)
        return None if not made else made[0] if len(made) == 1 else tuple(made)

    return f"({', '.join(declared)}) -> {returned}", run, empty


def _of_function(function: Function, fake: Callable[..., Any] | None) -> tuple[str, Any, Any]:
    import torch

    info = FunctionInfo.of(function)
    labels = _names([one.name for one in info.inputs])
    # An input that the function does not read ("any") is an array of some kind.
    # One that the function assigns to is mutated; what it may write otherwise is copied before.
    tensors = [f"Tensor(a{number}!)" if one.updated else "Tensor" for number, one in enumerate(info.inputs)]
    declared = [f"{tensor if one.shape is not None or one.element == 'any' else _number_type(one.element)} {label}"
                for label, one, tensor in zip(labels, info.inputs, tensors)]
    kinds = ["Tensor" if one.shape is not None else _number_type(one.element).replace("SymInt", "int")
             for one in info.results]
    types = {"i1": torch.bool, "i8": torch.int8, "i16": torch.int16, "i32": torch.int32, "i64": torch.int64,
             "f16": torch.float16, "bf16": torch.bfloat16, "f32": torch.float32, "f64": torch.float64}
    if fake is None:
        if any(one.shape is None or min(one.shape, default=0) < 0 for one in info.results):
            raise ValueError(f"results of '{info.name}' have shapes that are known at the call ({info}): give fake=, a function "
                             f"of the arguments that makes empty ones")

        def fake(*arguments: Any) -> Any:
            device = next((one.device for one in arguments if isinstance(one, torch.Tensor)), None)
            made = [torch.empty(one.shape, dtype=types[one.element], device=device) for one in info.results]
            return None if not made else made[0] if len(made) == 1 else tuple(made)

    def run(*arguments: Any) -> Any:
        given = function(*arguments, keep=True)
        # An operator's results are never its arguments, nor lie in their memory.
        taken = {other.untyped_storage().data_ptr() for other in arguments if isinstance(other, torch.Tensor)}
        own = [one.clone() if isinstance(one, torch.Tensor) and one.untyped_storage().data_ptr() in taken else one
               for one in (given if isinstance(given, tuple) else () if given is None else (given,))]
        return None if not own else own[0] if len(own) == 1 else tuple(own)

    return f"({', '.join(declared)}) -> {kinds[0] if len(kinds) == 1 else '(' + ', '.join(kinds) + ')'}", run, fake
