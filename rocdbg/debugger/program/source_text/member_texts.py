"""Which member of an object the text behind its name means: ``.inner.list[2]``."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rocdbg.debugger.program.source_text.source_tokens import Token
from rocdbg.dwarf.info.types import ArrayType, BaseType, ClassType, EnumType, PointerKind, PointerType, Type


def member_after(
    tokens: Sequence[Token], index: int, object_type: Type, closing: Callable[[int], int]
) -> tuple[int, Type | None]:
    """The token behind what begins at ``index``, and the type of what is meant; None if that is no data member.

    ``closing`` gives the token that closes the bracket at a token. What a member points to is no part of the object.
    """
    type_: Type | None = object_type
    while type_ is not None and index < len(tokens) and tokens[index].text in (".", "["):
        bare = type_.bare
        if tokens[index].text == "[":
            if isinstance(bare, PointerType):
                break
            type_ = bare.element if isinstance(bare, ArrayType) else None
            index = closing(index) + 1
        else:
            name = tokens[index + 1].text
            members = bare.members if isinstance(bare, ClassType) else ()
            type_ = next((member.type for member in members if member.name == name), None)
            index += 2
    return index, type_ if index < len(tokens) else None


def is_plain(type_: Type | None) -> bool:
    """Whether no class can say what operators do with values of a type."""
    return type_ is not None and isinstance(type_.bare, BaseType | EnumType | PointerType) and not is_reference(type_)


def is_reference(type_: Type) -> bool:
    """Whether a type is a reference."""
    bare = type_.bare
    return isinstance(bare, PointerType) and bare.kind is not PointerKind.POINTER
