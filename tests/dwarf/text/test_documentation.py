"""The examples in the library's document run, and public names are documented."""

from __future__ import annotations

import doctest
import inspect
import re
from pathlib import Path

import pytest

from rocdbg import dwarf

PAGE = Path(__file__).resolve().parents[3] / "docs" / "dwarf.md"


def test_the_examples_of_the_page() -> None:
    result = doctest.testfile(str(PAGE), module_relative=False, optionflags=doctest.NORMALIZE_WHITESPACE)
    assert result.attempted > 20
    assert result.failed == 0


@pytest.mark.parametrize("name", [name for name in dwarf.__all__ if callable(getattr(dwarf, name))])
def test_public_names_say_what_they_are_and_where_the_text_is(name: str) -> None:
    thing = getattr(dwarf, name)
    documented = {name: thing.__doc__}
    if inspect.isclass(thing):
        for member, value in vars(thing).items():
            if not member.startswith("_") and (inspect.isfunction(value) or isinstance(value, property)):
                documented[f"{name}.{member}"] = value.__doc__
    default = "Architecture.register_elements"  # the default of a field, not a method
    assert [each for each, text in documented.items() if not re.search(r"\bA\.[2-7]", text or "")] in ([], [default])
