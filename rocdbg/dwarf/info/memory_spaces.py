"""Memory spaces of source languages (A.2.14 of the extensions) as qualifiers of types."""

from __future__ import annotations

from rocdbg.dwarf.info.types import QualifiedType, Qualifier, Type

_COMMON = {
    1: Qualifier.GLOBAL_SPACE, 2: Qualifier.CONSTANT_SPACE, 3: Qualifier.GROUP_SPACE, 4: Qualifier.PRIVATE_SPACE,
}
_WORDS = {
    "opencl": _COMMON | {3: Qualifier.LOCAL_SPACE},
    "hip": _COMMON | {3: Qualifier.SHARED_SPACE},
}
"""DW_MSPACE_LLVM_* as the source languages spell them."""


def in_memory_space(type_: Type, space: int | None, language: str) -> Type:
    """Qualify a type by a memory space. The default space adds no qualifier; nor do vendors' spaces, which have no
    names.
    """
    qualifier = _WORDS.get(language, _COMMON).get(space or 0)
    return type_ if qualifier is None else QualifiedType(qualifier, type_, offset=type_.offset)


__all__ = ["in_memory_space"]
