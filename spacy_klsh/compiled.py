"""How functions are compiled: when they are first called, and once for this machine."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

from numba import njit

Function = TypeVar("Function", bound=Callable[..., Any])


def compiled(function: Function) -> Function:
    """`function` by numba, without the interpreter's lock, kept in numba's cache.

    Where no cache can be written (a read-only install without a home directory) every
    process compiles anew.
    """
    try:
        return cast(Function, njit(nogil=True, cache=True)(function))
    except RuntimeError:  # numba found no folder for its cache
        return cast(Function, njit(nogil=True)(function))
