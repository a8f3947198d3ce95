"""Functions that only compiled functions call: no machine code of their own.

Numba makes every function ready to run before it compiles those that call it: fully optimised, and written as machine
code, with all that it calls inside. For functions within functions that is done over and over, and in vain, as they are
inlined in the end. In this pipeline they are only tidied up; the one that Python calls is optimised with all of them
inside, and is as fast. Without the tidying some are not: Two-Stacks took 1.7 times as long. Loops are left as they are,
as one that is unrolled no longer goes through vectors.
"""

from typing import Any

from llvmlite.binding import create_pass_builder, create_pipeline_tuning_options
from numba import _dynfunc  # type: ignore[attr-defined]
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.core.compiler_machinery import register_pass
from numba.core.typed_passes import NativeLowering


class InnerLibrary(JITCodeLibrary):
    """Code that is only linked into other code."""

    def _optimize_final_module(self) -> None:
        """What Numba does at level 1, which also finds out where nobody has to count who refers to an array, without
        its unrolling of loops."""
        options = create_pipeline_tuning_options(speed_level=1)
        options.loop_unrolling = options.loop_vectorization = options.slp_vectorization = False
        builder = create_pass_builder(self._codegen._tm, options)
        passes = builder.getModulePassManager()
        passes.add_refprune_pass()
        passes.run(self._final_module, builder)

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True


@register_pass(mutates_CFG=True, analysis_only=False)
class InnerLowering(NativeLowering):
    """From typed code to LLVM's, which goes into such a library."""

    _name = "inner_lowering"

    def run_pass(self, state: Any) -> bool:
        state.library = library = InnerLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
        state.flags.no_compile = True
        super().run_pass(state)
        made = state["cr"]
        # What callers know the function by. It leads nowhere, as with any function that has no wrapper for Python.
        name = made.fndesc.qualname.split(".")[-1]
        known = _dynfunc.make_function(made.fndesc.lookup_module(), name, "", 0, made.env, (library,))
        state.targetctx.insert_user_function(known, made.fndesc, [library])
        state.reload_init.extend(library._reload_init)
        state["cr"] = made._replace(cfunc=known)
        return True


class InnerCompiler(Compiler):
    """Numba's pipeline with another lowering."""

    def define_pipelines(self) -> Any:
        pipelines = super().define_pipelines()
        for pipeline in pipelines:
            pipeline.passes = [(InnerLowering if p is NativeLowering else p, about) for p, about in pipeline.passes]
        return pipelines
