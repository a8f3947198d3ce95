"""How generated modules compile."""

from typing import Any

import numba.np.arraymath  # noqa: F401  Numba imports it in the middle of its own set-up, where it takes longer
from numba import njit

OPTIONS: dict[str, Any] = {"error_model": "numpy", "nogil": True, "no_cfunc_wrapper": True}
# Only drivers are called from Python; the functions inside them need no wrappers, which take half the compile time.
INNER: dict[str, Any] = {**OPTIONS, "forceinline": True, "no_cpython_wrapper": True}
try:
    from slidewheel.compiler.inner import InnerCompiler

    INNER["pipeline_class"] = InnerCompiler
except ImportError:  # a Numba that is built otherwise: then compiling takes longer
    pass
jit = njit(**INNER)
# For states that are arrays: their functions are long, and to inline them wherever they are called takes much longer.
called_jit = njit(**{**INNER, "forceinline": False})
# For graded forms: x + 0.0 is x, and a * b + c may be one step. Neither touches NaN or infinities.
graded_jit = njit(**INNER, fastmath={"nsz", "contract"})
# For loops that make no arrays: counting who refers to those that they pass around would take most of the time.
UNCOUNTED: dict[str, Any] = {**OPTIONS, "_nrt": False}
uncounted: Any = njit(**{**INNER, "_nrt": False})
