"""Names of attribute codes, which depend on the dialect, the tag and the form's class (A.7.5.4).

The heterogeneous attributes took vendor codes that upstream LLVM has since given to others. The dialect of the unit,
the tag of the entry and the class of the attribute's form determine which is meant.
"""

from __future__ import annotations

from functools import lru_cache

from msgspec import Struct

from rocdbg.dwarf.operation_table import DIALECTS, Dialect

__all__ = ["ATTRIBUTES", "AttributeInfo", "attribute_name"]

_SUBPROGRAMS = frozenset({"DW_TAG_subprogram", "DW_TAG_inlined_subroutine", "DW_TAG_entry_point"})
_UNITS = frozenset({"DW_TAG_compile_unit", "DW_TAG_partial_unit", "DW_TAG_skeleton_unit", "DW_TAG_type_unit"})
_POINTERS = frozenset({"DW_TAG_pointer_type", "DW_TAG_reference_type", "DW_TAG_rvalue_reference_type"})
_OBJECTS = frozenset({"DW_TAG_variable", "DW_TAG_formal_parameter", "DW_TAG_constant"})
_BASE = frozenset({"DW_TAG_base_type"})
_PTRAUTH = frozenset({"DW_TAG_LLVM_ptrauth_type"})
_TYPES = frozenset(
    {
        "DW_TAG_base_type",
        "DW_TAG_class_type",
        "DW_TAG_enumeration_type",
        "DW_TAG_structure_type",
        "DW_TAG_typedef",
        "DW_TAG_union_type",
        "DW_TAG_variant_part",
    }
)
_EXPRESSION = frozenset({"exprloc", "loclist", "loclistsptr", "block"})
_CONSTANT = frozenset({"constant"})


class AttributeInfo(Struct, frozen=True):
    """One vendor attribute: `code` means `name` in `dialects`, on `tags` and in forms of `classes` (None: any)."""

    code: int
    name: str
    dialects: tuple[Dialect, ...]
    tags: frozenset[str] | None = None
    classes: frozenset[str] | None = None


def _rows() -> list[AttributeInfo]:
    extended: tuple[Dialect, ...] = ("amd", "proposal2020")
    newer: tuple[Dialect, ...] = ("amd", "llvm22")
    upstream: tuple[Dialect, ...] = ("llvm22",)
    table: list[tuple[int, str, tuple[Dialect, ...], frozenset[str] | None, frozenset[str] | None]] = [
        (0x3E08, "active_lane", extended, _SUBPROGRAMS, _EXPRESSION),
        (0x3E09, "augmentation", extended, _UNITS, frozenset({"string"})),
        (0x3E0A, "lanes", extended, _SUBPROGRAMS, _CONSTANT),
        # The specification gives it the same code as lanes; only an expression shows that it is this attribute.
        (0x3E0A, "iterations", ("amd",), _SUBPROGRAMS, _EXPRESSION),
        (0x3E0B, "lane_pc", extended, _SUBPROGRAMS, _EXPRESSION),
        (0x3E0C, "vector_size", extended, _BASE, _CONSTANT),
        # The specification says "TBA"; the amd dialect accepts the codes that upstream announced, too. AMD's compilers
        # based on LLVM up to 21 wrote it with a code that upstream uses for labels of coroutines.
        (0x3E0D, "memory_space", newer, _POINTERS | _OBJECTS, _CONSTANT),
        (0x3E0F, "memory_space", newer, _POINTERS | _OBJECTS, _CONSTANT),
        (0x3E10, "address_space", newer, _POINTERS | _BASE, _CONSTANT),
        (0x3E11, "lanes", upstream, _SUBPROGRAMS, _CONSTANT),
        (0x3E12, "lane_pc", upstream, _SUBPROGRAMS, _EXPRESSION),
        (0x3E13, "vector_size", upstream, _BASE, _CONSTANT),
        # Upstream's own attributes. They also occur in units that use the extensions, where tag and class distinguish
        # them.
        (0x3E00, "include_path", DIALECTS, None, None),
        (0x3E01, "config_macros", DIALECTS, None, None),
        (0x3E02, "sysroot", DIALECTS, None, None),
        (0x3E03, "tag_offset", DIALECTS, None, None),
        (0x3E04, "ptrauth_key", DIALECTS, None, None),
        (0x3E05, "ptrauth_address_discriminated", DIALECTS, None, None),
        (0x3E06, "ptrauth_extra_discriminator", DIALECTS, None, None),
        (0x3E07, "apinotes", DIALECTS, None, None),
        (0x3E08, "ptrauth_isa_pointer", DIALECTS, _PTRAUTH, frozenset({"flag"})),
        (0x3E09, "ptrauth_authenticates_null_values", DIALECTS, _PTRAUTH, frozenset({"flag"})),
        (0x3E0A, "ptrauth_authentication_mode", DIALECTS, _PTRAUTH, _CONSTANT),
        (0x3E0B, "num_extra_inhabitants", DIALECTS, _TYPES, _CONSTANT),
        (0x3E0C, "stmt_sequence", DIALECTS, frozenset({"DW_TAG_subprogram"}), frozenset({"sec_offset", "lineptr"})),
        (0x3E0D, "coro_suspend_idx", DIALECTS, None, _CONSTANT),
        (0x3E0E, "alloc_type", DIALECTS, None, None),
    ]
    return [
        AttributeInfo(code, f"DW_AT_LLVM_{name}", dialects, tags, classes)
        for code, name, dialects, tags, classes in table
    ]


ATTRIBUTES: tuple[AttributeInfo, ...] = tuple(_rows())
"""The vendor attributes whose meaning depends on the dialect, and those that have neighbouring codes."""


@lru_cache(maxsize=1)
def _standard_names() -> dict[int, str]:
    from elftools.dwarf.enums import ENUM_DW_AT

    names: dict[int, str] = {}
    for name, code in ENUM_DW_AT.items():
        if isinstance(code, int) and not 0x3E00 <= code <= 0x3E13 and name.startswith("DW_AT_"):
            names.setdefault(code, name)
    return names


def attribute_name(
    code: int, tag: str | None = None, form_class: str | None = None, dialect: str = "amd"
) -> str | None:
    """The name of an attribute code (A.7.5.4), or None where it has no meaning on that tag in that class.

    `tag` ("DW_TAG_subprogram") and `form_class` ("exprloc", "loclist", "constant", "string", "flag", ...) may be None
    if not known; the first meaning that fits is then returned. Never raises: an unknown attribute gives None.
    """
    known = False
    for row in ATTRIBUTES:
        if row.code != code:
            continue
        known = True
        if (
            dialect in row.dialects
            and (tag is None or row.tags is None or tag in row.tags)
            and (form_class is None or row.classes is None or form_class in row.classes)
        ):
            return row.name
    return None if known else _standard_names().get(code)
