"""Values of any type over the lanes of a wave, as words that the simulator can write down."""

from __future__ import annotations

from msgspec import Struct

from rocdbg.debugger.expr.environments.program_environment import ProgramEnvironment
from rocdbg.debugger.expr.evaluator import value_tree
from rocdbg.debugger.expr.lanes.lane_compiler import LaneCompiler
from rocdbg.debugger.expr.lanes.lane_terms import Term
from rocdbg.debugger.expr.parsing.kept_trees import nesting_limited
from rocdbg.debugger.frames.compiled_places import Untranslatable
from rocdbg.debugger.values import c_types
from rocdbg.dwarf.info.types import Type
from rocdbg.sim.core.builder import I64, INTEGER, Op
from rocdbg.sim.core.lane_expressions import LaneExpressionError, Node, apply, check, is_uniform, unsigned

MAX_BYTES = 4096
"""Of the largest value that is collected."""


class LaneColumn(Struct, frozen=True):
    """A value over lanes: its bytes in words (I64) of eight each, the last zero-extended, and its type.

    ``shared``: they are the same for all lanes of a wave.
    """

    words: tuple[Node, ...]
    type: Type
    shared: bool


def compile_column(text: str, environment: ProgramEnvironment) -> LaneColumn:
    """The value of an expression, of any type. Raises `Untranslatable`, or as the evaluator does of bad expressions."""
    compiler = LaneCompiler(environment)
    target = environment.target
    assert target is not None, "there is no wave"
    try:
        with nesting_limited(text):
            term = compiler.lvalue(value_tree(text, environment))
        words = _words(term)
        for word in words:
            check(word, target.architecture.vgpr_file, target.architecture.has_agprs)
    except LaneExpressionError as error:
        raise Untranslatable(str(error)) from None
    except RecursionError:
        raise Untranslatable("a deep expression") from None
    if compiler.parameters.all:
        raise Untranslatable("a convenience variable")
    return LaneColumn(words, term.type, all(map(is_uniform, words)))


def _words(term: Term) -> tuple[Node, ...]:
    size = c_types.size_of(term.type)
    if not 0 < size <= MAX_BYTES:
        raise Untranslatable(f"a value of {size} bytes")
    if term.node is not None or term.bits is not None:
        node = term.value()
        if c_types.is_float(term.type):
            if c_types.is_bfloat(term.type) or 8 * size != node.type.bits:
                raise Untranslatable(f"a value of type {term.type}")
            node = apply(Op.BITCAST, node, type=INTEGER[node.type.bits])
        return (unsigned(node, I64),)
    return tuple(
        term.part(c_types.UNSIGNED_LONG, 8 * byte, 8 * min(8, size - byte)).value() for byte in range(0, size, 8)
    )


__all__ = ["MAX_BYTES", "LaneColumn", "compile_column"]
