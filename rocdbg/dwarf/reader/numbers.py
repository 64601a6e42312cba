"""Names of the tags of entries."""

from __future__ import annotations

from functools import lru_cache


@lru_cache(maxsize=1)
def _names() -> dict[int, str]:
    from elftools.dwarf.enums import ENUM_DW_TAG

    names: dict[int, str] = {}
    for name, code in ENUM_DW_TAG.items():
        if isinstance(code, int) and name.startswith("DW_TAG_"):
            names.setdefault(code, name)
    return names


def tag_name(tag: int) -> str:
    """DW_TAG_* of a number; "DW_TAG_0x4321" for one without a name."""
    return _names().get(tag, f"DW_TAG_{tag:#x}")


__all__ = ["tag_name"]
