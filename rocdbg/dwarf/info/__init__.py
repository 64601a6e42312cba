"""Debug information of a code object: units, functions, scopes, variables, types, lines, names.

``DebugInfo(sections)`` is the entry point. Everything is read lazily, so that opening a file is free and a query about
one function reads little more than that function. Addresses are link-time addresses of the code object.

    info = DebugInfo({".debug_info": ..., ".debug_abbrev": ..., ...})
    function, = info.functions_named("saxpy")
    info.breakpoint_address(function)
    for scope in info.scopes_at(pc):                    # innermost first
        for variable in scope.variables:
            variable.name, str(variable.type), variable.location

Expressions are returned as bytes (``Exprloc``); ``rocdbg.dwarf`` evaluates them, in ``unit.dialect``.
"""

from __future__ import annotations

from rocdbg.dwarf.info.attribute_values import (
    Address,
    AttributeValue,
    Block,
    Constant,
    Exprloc,
    Flag,
    Location,
    Loclist,
    Reference,
    Rnglist,
    SectionOffset,
    String,
    SupplementaryReference,
    TypeSignature,
)
from rocdbg.dwarf.info.debug_info import DebugInfo
from rocdbg.dwarf.info.die import Die
from rocdbg.dwarf.info.errors import DebugInfoError
from rocdbg.dwarf.info.model import AddressRange, CodeLocation, LineRow, SourceFile
from rocdbg.dwarf.info.scopes import (
    CallSite,
    CallSiteParameter,
    Function,
    InlinedSubroutine,
    LexicalBlock,
    Scope,
    Variable,
)
from rocdbg.dwarf.info.type_text import describe, type_name
from rocdbg.dwarf.info.types import (
    VOID,
    Access,
    ArrayType,
    BaseClass,
    BaseType,
    ClassKind,
    ClassType,
    Encoding,
    Enumerator,
    EnumType,
    FunctionType,
    Member,
    MemberPointerType,
    Method,
    Parameter,
    PointerKind,
    PointerType,
    QualifiedType,
    Qualifier,
    StaticMember,
    TemplateArgument,
    Type,
    TypedefType,
    UnspecifiedType,
    VectorType,
    VoidType,
)
from rocdbg.dwarf.info.unit import Unit

__all__ = [
    "VOID",
    "Access",
    "Address",
    "AddressRange",
    "ArrayType",
    "AttributeValue",
    "BaseClass",
    "BaseType",
    "Block",
    "CallSite",
    "CallSiteParameter",
    "ClassKind",
    "ClassType",
    "CodeLocation",
    "Constant",
    "DebugInfo",
    "DebugInfoError",
    "Die",
    "Encoding",
    "EnumType",
    "Enumerator",
    "Exprloc",
    "Flag",
    "Function",
    "FunctionType",
    "InlinedSubroutine",
    "LexicalBlock",
    "LineRow",
    "Location",
    "Loclist",
    "Member",
    "MemberPointerType",
    "Method",
    "Parameter",
    "PointerKind",
    "PointerType",
    "QualifiedType",
    "Qualifier",
    "Reference",
    "Rnglist",
    "Scope",
    "SectionOffset",
    "SourceFile",
    "StaticMember",
    "String",
    "SupplementaryReference",
    "TemplateArgument",
    "Type",
    "TypeSignature",
    "TypedefType",
    "Unit",
    "UnspecifiedType",
    "Variable",
    "VectorType",
    "VoidType",
    "describe",
    "type_name",
]
