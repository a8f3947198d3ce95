"""Arrays by their addresses, for compiled functions that take numbers in place of them, and what is fetched early."""

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.typing.npydecl import parse_dtype
from numba.extending import intrinsic
from numba.np import arrayobj


@intrinsic
def array_at(context: Any, address: Any, shape: Any, dtype: Any) -> Any:
    """The array in C order of this shape that lies there; it is for the caller to keep it alive."""
    lengths = getattr(shape, "count", 1)
    made = types.Array(parse_dtype(dtype), lengths, "C")

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        place, length, _ = arguments
        array = arrayobj.make_array(made)(context, builder)
        size = context.get_constant(types.intp, arrayobj.get_itemsize(context, made))
        sizes = cgutils.unpack_tuple(builder, length) if isinstance(shape, types.BaseTuple) else [length]
        steps = [size]
        for one in reversed(sizes[1:]):
            steps.insert(0, builder.mul(steps[0], one))
        arrayobj.populate_array(
            array,
            data=builder.inttoptr(place, array.data.type),
            shape=sizes,
            strides=steps,
            itemsize=size,
            meminfo=None,
        )
        return array._getvalue()

    return made(address, shape, dtype), generate


@intrinsic
def fetch(context: Any, array: Any, place: Any) -> Any:
    """Have this item brought near while something else is done; one outside of the array does no harm."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        data = context.make_array(array)(context, builder, arguments[0]).data
        at = builder.bitcast(builder.gep(data, [arguments[1]]), cgutils.voidptr_t)
        number = ir.IntType(32)
        known = ir.FunctionType(ir.VoidType(), [cgutils.voidptr_t, number, number, number])
        function = cgutils.get_or_insert_function(builder.module, known, "llvm.prefetch.p0i8")
        builder.call(function, [at, number(0), number(3), number(1)])
        return context.get_dummy_value()

    return types.void(array, types.intp), generate
