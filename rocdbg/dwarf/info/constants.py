"""The numbers of DWARF that this package acts on (DWARF 5 section 7, and vendor codes).

Only codes that the package interprets are listed; other attributes can be read by number. The attribute table of
``rocdbg.dwarf`` has the names and meanings of the heterogeneous vendor attributes in each dialect.
"""

from __future__ import annotations

from typing import Final


class Tag:
    """DW_TAG_*."""

    ARRAY_TYPE: Final = 0x01
    CLASS_TYPE: Final = 0x02
    ENTRY_POINT: Final = 0x03
    ENUMERATION_TYPE: Final = 0x04
    FORMAL_PARAMETER: Final = 0x05
    IMPORTED_DECLARATION: Final = 0x08
    LABEL: Final = 0x0A
    LEXICAL_BLOCK: Final = 0x0B
    MEMBER: Final = 0x0D
    COMMON_BLOCK: Final = 0x1A
    COMMON_INCLUSION: Final = 0x1B
    POINTER_TYPE: Final = 0x0F
    REFERENCE_TYPE: Final = 0x10
    COMPILE_UNIT: Final = 0x11
    STRING_TYPE: Final = 0x12
    STRUCTURE_TYPE: Final = 0x13
    SUBROUTINE_TYPE: Final = 0x15
    TYPEDEF: Final = 0x16
    UNION_TYPE: Final = 0x17
    UNSPECIFIED_PARAMETERS: Final = 0x18
    INHERITANCE: Final = 0x1C
    INLINED_SUBROUTINE: Final = 0x1D
    MODULE: Final = 0x1E
    PTR_TO_MEMBER_TYPE: Final = 0x1F
    SUBRANGE_TYPE: Final = 0x21
    BASE_TYPE: Final = 0x24
    CONST_TYPE: Final = 0x26
    CONSTANT: Final = 0x27
    ENUMERATOR: Final = 0x28
    SUBPROGRAM: Final = 0x2E
    TEMPLATE_TYPE_PARAMETER: Final = 0x2F
    TEMPLATE_VALUE_PARAMETER: Final = 0x30
    VARIABLE: Final = 0x34
    VOLATILE_TYPE: Final = 0x35
    RESTRICT_TYPE: Final = 0x37
    INTERFACE_TYPE: Final = 0x38
    NAMESPACE: Final = 0x39
    IMPORTED_MODULE: Final = 0x3A
    UNSPECIFIED_TYPE: Final = 0x3B
    PARTIAL_UNIT: Final = 0x3C
    IMPORTED_UNIT: Final = 0x3D
    TYPE_UNIT: Final = 0x41
    RVALUE_REFERENCE_TYPE: Final = 0x42
    TEMPLATE_ALIAS: Final = 0x43
    GENERIC_SUBRANGE: Final = 0x45
    ATOMIC_TYPE: Final = 0x47
    CALL_SITE: Final = 0x48
    CALL_SITE_PARAMETER: Final = 0x49
    SKELETON_UNIT: Final = 0x4A
    IMMUTABLE_TYPE: Final = 0x4B
    GNU_CALL_SITE: Final = 0x4109
    GNU_CALL_SITE_PARAMETER: Final = 0x410A


class At:
    """DW_AT_*."""

    SIBLING: Final = 0x01
    LOCATION: Final = 0x02
    NAME: Final = 0x03
    BYTE_SIZE: Final = 0x0B
    BIT_OFFSET: Final = 0x0C
    BIT_SIZE: Final = 0x0D
    STMT_LIST: Final = 0x10
    LOW_PC: Final = 0x11
    HIGH_PC: Final = 0x12
    LANGUAGE: Final = 0x13
    DISCR_LIST: Final = 0x3D
    COMMON_REFERENCE: Final = 0x1A
    STRING_LENGTH: Final = 0x19
    STRING_LENGTH_BYTE_SIZE: Final = 0x70
    STRING_LENGTH_BIT_SIZE: Final = 0x71
    COMP_DIR: Final = 0x1B
    CONST_VALUE: Final = 0x1C
    CONTAINING_TYPE: Final = 0x1D
    INLINE: Final = 0x20
    LOWER_BOUND: Final = 0x22
    PRODUCER: Final = 0x25
    PROTOTYPED: Final = 0x27
    RETURN_ADDR: Final = 0x2A
    START_SCOPE: Final = 0x2C
    BIT_STRIDE: Final = 0x2E
    UPPER_BOUND: Final = 0x2F
    ABSTRACT_ORIGIN: Final = 0x31
    ACCESSIBILITY: Final = 0x32
    ADDRESS_CLASS: Final = 0x33
    ARTIFICIAL: Final = 0x34
    CALLING_CONVENTION: Final = 0x36
    COUNT: Final = 0x37
    DATA_MEMBER_LOCATION: Final = 0x38
    DECL_COLUMN: Final = 0x39
    DECL_FILE: Final = 0x3A
    DECL_LINE: Final = 0x3B
    DECLARATION: Final = 0x3C
    ENCODING: Final = 0x3E
    EXTERNAL: Final = 0x3F
    FRAME_BASE: Final = 0x40
    IMPORT: Final = 0x18
    SEGMENT: Final = 0x46
    SPECIFICATION: Final = 0x47
    STATIC_LINK: Final = 0x48
    TYPE: Final = 0x49
    USE_LOCATION: Final = 0x4A
    VIRTUALITY: Final = 0x4C
    VTABLE_ELEM_LOCATION: Final = 0x4D
    ENTRY_PC: Final = 0x52
    BYTE_STRIDE: Final = 0x51
    DATA_LOCATION: Final = 0x50
    RANGES: Final = 0x55
    CALL_COLUMN: Final = 0x57
    CALL_FILE: Final = 0x58
    CALL_LINE: Final = 0x59
    ENDIANITY: Final = 0x65
    OBJECT_POINTER: Final = 0x64
    SIGNATURE: Final = 0x69
    DATA_BIT_OFFSET: Final = 0x6B
    ENUM_CLASS: Final = 0x6D
    LINKAGE_NAME: Final = 0x6E
    STR_OFFSETS_BASE: Final = 0x72
    ADDR_BASE: Final = 0x73
    RNGLISTS_BASE: Final = 0x74
    DWO_NAME: Final = 0x76
    MACRO_INFO: Final = 0x43
    MACROS: Final = 0x79
    GNU_MACROS: Final = 0x2119
    CALL_RETURN_PC: Final = 0x7D
    CALL_ALL_CALLS: Final = 0x7A
    CALL_VALUE: Final = 0x7E
    CALL_ORIGIN: Final = 0x7F
    CALL_PARAMETER: Final = 0x80
    CALL_PC: Final = 0x81
    CALL_TAIL_CALL: Final = 0x82
    CALL_TARGET: Final = 0x83
    CALL_TARGET_CLOBBERED: Final = 0x84
    CALL_DATA_LOCATION: Final = 0x85
    CALL_DATA_VALUE: Final = 0x86
    ALIGNMENT: Final = 0x88
    EXPORT_SYMBOLS: Final = 0x89
    LOCLISTS_BASE: Final = 0x8C
    MIPS_LINKAGE_NAME: Final = 0x2007
    GNU_CALL_SITE_VALUE: Final = 0x2111
    GNU_CALL_SITE_DATA_VALUE: Final = 0x2112
    GNU_CALL_SITE_TARGET: Final = 0x2113
    GNU_ALL_CALL_SITES: Final = 0x2117
    GNU_TAIL_CALL: Final = 0x2115
    GNU_VECTOR: Final = 0x2107
    GNU_DWO_NAME: Final = 0x2130
    GNU_DWO_ID: Final = 0x2131
    GNU_RANGES_BASE: Final = 0x2132
    GNU_ADDR_BASE: Final = 0x2133
    # The heterogeneous extensions; in upstream LLVM the first five codes mean other things;
    # tag and form class distinguish them.
    LLVM_ACTIVE_LANE: Final = 0x3E08
    LLVM_AUGMENTATION: Final = 0x3E09
    LLVM_LANES: Final = 0x3E0A
    LLVM_LANE_PC: Final = 0x3E0B
    LLVM_VECTOR_SIZE: Final = 0x3E0C
    AMD_MEMORY_SPACE: Final = 0x3E0D
    """Used by AMD's compilers based on LLVM up to 21."""
    LLVM22_MEMORY_SPACE: Final = 0x3E0F
    LLVM22_ADDRESS_SPACE: Final = 0x3E10
    LLVM22_LANES: Final = 0x3E11
    LLVM22_LANE_PC: Final = 0x3E12
    LLVM22_VECTOR_SIZE: Final = 0x3E13


class UnitType:
    """DW_UT_*."""

    COMPILE: Final = 0x01
    TYPE: Final = 0x02
    PARTIAL: Final = 0x03
    SKELETON: Final = 0x04
    SPLIT_COMPILE: Final = 0x05
    SPLIT_TYPE: Final = 0x06


class Inline:
    """DW_INL_*."""

    NOT_INLINED: Final = 0
    INLINED: Final = 1


class Convention:
    """DW_CC_*."""

    LLVM_DEVICE_KERNEL: Final = 0xC7
    """Called DW_CC_LLVM_OpenCLKernel before LLVM 21."""


LANGUAGE_NAMES: Final[dict[int, str]] = {
    # C89, C, C99, C11, C17, C23
    0x0001: "c", 0x0002: "c", 0x000C: "c", 0x001D: "c", 0x002C: "c", 0x003E: "c",
    # C++ 98, 03, 11, 14, 17, 20, 23
    0x0004: "c++", 0x0019: "c++", 0x001A: "c++", 0x0021: "c++", 0x002A: "c++", 0x002B: "c++", 0x003A: "c++",
    # HIP (the extensions' code, DWARF 6's code), OpenCL C++, C++ for OpenCL, SYCL
    0x8100: "hip", 0x0030: "hip", 0x0037: "c++", 0x0038: "c++", 0x0039: "c++",
    0x0015: "opencl",
    # Fortran 77, 90, 95, 2003, 2008, 2018
    0x0007: "fortran", 0x0008: "fortran", 0x000E: "fortran", 0x0022: "fortran", 0x0023: "fortran",
    0x002D: "fortran",
    0x001C: "rust", 0x8001: "asm", 0x0031: "asm",
}
"""DW_LANG_* to GDB's name of the language."""
