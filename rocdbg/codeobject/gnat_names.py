"""Decodes names of symbols other than C++'s as GDB shows them: by the rules of GNAT, the Ada compiler.

GDB asks each of its languages whether a symbol's name is one of its names. Ada's rules fit names of C, too: the static
variable ``calls`` of ``f``, which clang names ``f.calls``, is shown as ``f[calls]``, and ``rows__x`` as ``rows.x``.
"""

from __future__ import annotations

import re
from functools import lru_cache

_SUFFIX = re.compile(r"(?<=.)\.([A-Za-z]*)$", re.DOTALL)
"""A suffix added by a compiler: the end of ``f.part``."""
_COPY = re.compile(r"(?:\.|\$|___|__)\d+$")
"""The suffix that numbers copies of a function."""
_LATE_COPY = re.compile(r"(?:(?<=.)__|\$)\d+(?:_\d+)*$", re.DOTALL)
_TASK = re.compile(r"(?<=.)(?:TKB|TB|B)$", re.DOTALL)
_ENTRY = re.compile(r"(?<=.)_E\d+[bs]$", re.DOTALL)
_BODY = re.compile(r"(?<=[0-9A-Za-z])X[bn]*$")


@lru_cache(maxsize=4096)
def gnat_name(name: str) -> str:
    """A symbol's decoded name; unchanged if it cannot be one of GNAT's."""
    text = name.removeprefix(".").removeprefix("_ada_")
    if not text or text[0] in "_<":
        return name
    suffix = _SUFFIX.search(text)
    if suffix is not None:
        text = text[: suffix.start()]
    text = _COPY.sub("", text) if len(text) > 1 else text
    if len(text) > 1 and text[-1] == "N" and (text[-2].isdigit() or text[-2].islower()):  # a protected object's
        text = text[:-1]
    mark = text.find("___")
    if 0 <= mark < len(text) - 3:
        if text[mark + 3] != "X":
            return name
        text = text[:mark]
    text = _LATE_COPY.sub("", _TASK.sub("", text))
    text = _BODY.sub("", _ENTRY.sub("", text).replace("TK__", "__"))
    text = re.sub("__(?=.)", ".", text, flags=re.DOTALL)
    if any(letter.isupper() or letter == " " for letter in text):
        return name
    return f"{text}[{suffix[1]}]" if suffix is not None else text
