"""The examples in the document run, and public names are documented."""

from __future__ import annotations

import doctest
from pathlib import Path

from rocdbg import llvmdi

PAGE = Path(__file__).resolve().parents[2] / "docs" / "llvmdi.md"


def test_the_examples_of_the_page() -> None:
    result = doctest.testfile(str(PAGE), module_relative=False, optionflags=doctest.NORMALIZE_WHITESPACE)
    assert result.attempted > 15
    assert result.failed == 0


def test_public_names_are_documented() -> None:
    names = [name for name in llvmdi.__all__ if callable(getattr(llvmdi, name))]
    assert len(names) > 18
    assert [name for name in names if not getattr(llvmdi, name).__doc__] == []


def test_the_page_names_every_operation_that_the_text_has_not() -> None:
    text = PAGE.read_text()
    assert [info.name for info in llvmdi.OPERATIONS.values() if info.today and info.name not in text] == []
    assert len([info for info in llvmdi.OPERATIONS.values() if not info.today]) == 21
