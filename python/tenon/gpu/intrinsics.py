# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a kernel's body may call: functions that the interpreter gives values, and knows by a mark."""
from __future__ import annotations

import difflib
from collections.abc import Callable
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])
_names: list[str] = []


_ELSEWHERE = "write that kernel in CUDA C++ (tenon.cuda_kernel) or in MLIR (an object kernel.mlir)"
_REFUSED = {"tcgen": f"what sm_100a alone has is not in tenon.gpu: {_ELSEWHERE}", "im2col": f"tensor maps are tiled: {_ELSEWHERE}",
            "sparse": f"sparse products are not in tenon.gpu: {_ELSEWHERE}", "reduce_add": f"sums of tensor maps are not in tenon.gpu: {_ELSEWHERE}",
            "tma": "tensor maps are gpu.tensor_map(array, box), with load and store", "mapa": "gpu.peer(array, rank) is another block's shared memory",
            "mbarrier": "barriers are gpu.mbarriers(count), with init, expect, arrive and wait"}


def intrinsic(function: F) -> F:
    """Marks what the interpreter calls with values."""
    function.tenon_intrinsic = True  # type: ignore[attr-defined]
    _names.append(function.__name__)
    return function


def suggestion(name: str) -> str:
    """What may have been meant."""
    for part, fix in _REFUSED.items():
        if part in name:
            return fix
    near = difflib.get_close_matches(name, _names, 1)
    return f"did you mean gpu.{near[0]}?" if near else ""
