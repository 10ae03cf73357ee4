# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What type checkers are told of kernels. A kernel's body is Python that the interpreter reads, not Python that runs: to a checker its
arrays and numbers are of any type, and what a body means is said by KernelError. At run time there is nothing of this."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    # gpu.In[f32, "n", M]: behind the first a checker looks at nothing.
    from typing import Annotated as In, Annotated as InOut, Annotated as Out

    class _Number(Any):  # type: ignore[misc]
        """An annotation of a parameter, and a conversion of what it is called with."""

    class i1(_Number): ...  # noqa: E701
    class i8(_Number): ...  # noqa: E701
    class i16(_Number): ...  # noqa: E701
    class i32(_Number): ...  # noqa: E701
    class i64(_Number): ...  # noqa: E701
    class f16(_Number): ...  # noqa: E701
    class bf16(_Number): ...  # noqa: E701
    class f32(_Number): ...  # noqa: E701
    class f64(_Number): ...  # noqa: E701

    __all__ = ["In", "InOut", "Out"]


class Indexed:
    """What a body may ask for elements."""

    if TYPE_CHECKING:
        __getitem__: Any
        __setitem__: Any


class Operand:
    """What a body may compute with."""

    if TYPE_CHECKING:
        __add__: Any
        __radd__: Any
        __sub__: Any
        __rsub__: Any
        __mul__: Any
        __rmul__: Any
        __truediv__: Any
        __rtruediv__: Any
        __floordiv__: Any
        __rfloordiv__: Any
        __mod__: Any
        __rmod__: Any
        __lshift__: Any
        __rlshift__: Any
        __rshift__: Any
        __rrshift__: Any
        __and__: Any
        __rand__: Any
        __or__: Any
        __ror__: Any
        __xor__: Any
        __rxor__: Any
        __neg__: Any
        __pos__: Any
        __invert__: Any
        __abs__: Any
        __int__: Any
        __float__: Any
        __index__: Any
        __lt__: Any
        __le__: Any
        __gt__: Any
        __ge__: Any
