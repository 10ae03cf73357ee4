# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a kernel's body may call: functions that the interpreter gives values, and knows by a mark."""
from __future__ import annotations

import difflib
from collections.abc import Callable
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])
_names: list[str] = []


def intrinsic(function: F) -> F:
    """Marks what the interpreter calls with values."""
    function.tenon_intrinsic = True  # type: ignore[attr-defined]
    _names.append(function.__name__)
    return function


def suggestion(name: str) -> str:
    """What may have been meant."""
    if name.startswith(("wgmma", "tma", "tensor_map", "cluster", "mbarrier")):
        return "what only sm_90a has is written in CUDA C++ (tenon.cuda_kernel) or in MLIR (an object kernel.mlir)"
    near = difflib.get_close_matches(name, _names, 1)
    return f"did you mean gpu.{near[0]}?" if near else ""
