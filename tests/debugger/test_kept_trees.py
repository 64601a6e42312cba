"""Trees of expressions are cached between evaluations; the same text may have another meaning later."""

from __future__ import annotations

from typing import cast

from rocdbg import Debugger
from rocdbg.debugger.expr.environments.environment import Environment
from rocdbg.debugger.expr.parsing.kept_trees import parse_in


def test_a_name_that_becomes_a_type() -> None:
    """``(t) - 1`` is a cast if ``t`` is a type, and a difference otherwise."""
    answers = {"t": True}

    class Names:
        input_radix = 10
        is_cplusplus = False
        frame = None
        convenience = Debugger().session.convenience

        def is_type(self, name: str) -> bool:
            return answers[name]

        def is_known(self, name: str) -> bool:
            return False

    names = cast(Environment, Names())
    kinds = []
    for answers["t"] in (True, False, True, True):
        kinds.append(type(parse_in("(t) - 1", names)).__name__)
    assert kinds == ["Cast", "Binary", "Cast", "Cast"]


def test_convenience_variables_change_between_rounds() -> None:
    debugger = Debugger()
    text = "set $i = 0\nwhile $i < 3\nset $i = $i + 1\noutput $i\nend"
    assert debugger.execute(text, to_string=True) == "123"
    assert debugger.execute(text, to_string=True) == "123"


def test_the_radix_is_part_of_the_text() -> None:
    debugger = Debugger()
    said = "Input radix now set to decimal 16, hex 10, octal 20.\n"
    assert debugger.execute("output 10\nset input-radix 16\noutput 10", to_string=True) == f"10{said}16"
