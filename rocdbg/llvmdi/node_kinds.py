"""The specialised nodes of LLVM's metadata: their fields, and the form of each field's value."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from rocdbg.llvmdi.module import Field, Node, Operand, Ref, Text, Words

__all__ = ["DOCUMENT", "KINDS", "wrong_value"]

_TEXT = {
    "DILocation": "scope:m!* line:n32 column:n16 inlinedAt:m isImplicitCode:b atomGroup:n atomRank:n",
    "DIFile": "filename:s* directory:s* checksumkind:w checksum:s source:s",
    "DICompileUnit": (
        "file:m!* language:nw sourceLanguageName:nw sourceLanguageVersion:n producer:s isOptimized:b "
        "flags:s runtimeVersion:n32 splitDebugFilename:s emissionKind:nw enums:m retainedTypes:m "
        "globals:m imports:m macros:m dwoId:n splitDebugInlining:b debugInfoForProfiling:b "
        "nameTableKind:nw rangesBaseAddress:b sysroot:s sdk:s dialect:nw"
    ),
    "DIBasicType": (
        "tag:nw name:s file:m line:n32 scope:m size:nm align:n32 dataSize:n32 encoding:nw "
        "num_extra_inhabitants:n32 flags:nw"
    ),
    "DIFixedPointType": (
        "tag:nw name:s file:m line:n32 scope:m size:nm align:n32 encoding:nw flags:nw kind:nw factor:i "
        "numerator:i denominator:i"
    ),
    "DIStringType": (
        "tag:nw name:s stringLength:m stringLengthExpression:m stringLocationExpression:m size:nm "
        "align:n32 encoding:nw"
    ),
    "DIDerivedType": (
        "tag:nw* baseType:m* name:s scope:m file:m line:n32 size:nm align:n32 offset:nm flags:nw "
        "extraData:m dwarfAddressSpace:n32 memorySpace:nw annotations:m ptrAuthKey:n "
        "ptrAuthIsAddressDiscriminated:b ptrAuthExtraDiscriminator:n ptrAuthIsaPointer:b "
        "ptrAuthAuthenticatesNullValues:b"
    ),
    "DICompositeType": (
        "tag:nw* name:s scope:m file:m line:n32 baseType:m size:nm align:n32 offset:nm flags:nw "
        "elements:m runtimeLang:nw enumKind:nw vtableHolder:m templateParams:m identifier:s "
        "discriminator:m dataLocation:m associated:m allocated:m rank:im annotations:m "
        "num_extra_inhabitants:n32 specification:m bitStride:m"
    ),
    "DISubroutineType": "types:m* flags:nw cc:nw",
    "DISubprogram": (
        "scope:m name:s linkageName:s file:m line:n32 type:m isLocal:b isDefinition:b scopeLine:n32 "
        "containingType:m virtuality:nw virtualIndex:n32 thisAdjustment:i flags:nw spFlags:nw "
        "isOptimized:b unit:m templateParams:m declaration:m retainedNodes:m thrownTypes:m annotations:m "
        "targetFuncName:s keyInstructions:b activeLanePC:m"
    ),
    "DILexicalBlock": "scope:m!* file:m line:n32 column:n16",
    "DILexicalBlockFile": "scope:m!* discriminator:n32* file:m",
    "DINamespace": "scope:m* name:s exportSymbols:b",
    "DIModule": "scope:m* name:s* configMacros:s includePath:s apinotes:s line:n32 isDecl:b file:m",
    "DICommonBlock": "scope:m* declaration:m name:s file:m line:n32",
    "DITemplateTypeParameter": "type:m* name:s defaulted:b",
    "DITemplateValueParameter": "value:m* tag:nw name:s type:m defaulted:b",
    "DIGlobalVariable": (
        "name:s scope:m linkageName:s file:m line:n32 type:m isLocal:b isDefinition:b templateParams:m "
        "declaration:m align:n32 annotations:m memorySpace:nw"
    ),
    "DILocalVariable": (
        "scope:m!* arg:n16 name:s file:m line:n32 type:m flags:nw align:n32 annotations:m memorySpace:nw"
    ),
    "DILabel": "scope:m!* name:s* file:m* line:n32* column:n32 isArtificial:b coroSuspendIdx:n32",
    "DIGlobalVariableExpression": "var:m* expr:m*",
    "DIObjCProperty": "name:s file:m line:n32 setter:s getter:s attributes:n32 type:m",
    "DIImportedEntity": "tag:nw* scope:m* entity:m file:m line:n32 name:s elements:m",
    "DIMacro": "type:nw* name:s* line:n32 value:s",
    "DIMacroFile": "file:m* type:nw line:n32 nodes:m",
    "DIEnumerator": "name:s* value:i* isUnsigned:b",
    "DISubrange": "count:im lowerBound:im upperBound:im stride:im",
    "DISubrangeType": (
        "name:s file:m line:n32 scope:m size:nm align:n32 flags:nw lowerBound:im upperBound:im stride:im "
        "bias:im baseType:m"
    ),
    "DIGenericSubrange": "count:im lowerBound:im upperBound:im stride:im",
    "GenericDINode": "tag:nw* header:s operands:m",
}  # fmt: skip
"""Fields of each kind as `name:form`, with a star if the field is required.

Forms are letters: n is a non-negative number, followed by the bits that it may have; i an integer; s a string; m
metadata, with `!` if it must not be null; b true or false; w words (`DW_TAG_member`, `DIFlagArtificial |
DIFlagVector`). `memorySpace` and `activeLanePC` are AMD's.
"""
DOCUMENT = frozenset((
    "DILifetime", "DIFragment", "DIExprCode", "DIExpr", "DIObject", "DIVariable", "DICode", "DIExpression",
    "DIAssignID", "DIArgList",
))  # fmt: skip
"""Kinds of nodes that are not in the table above: those that the document defines, which the checker checks, and those
that are read in another way.
"""


class Kind(Struct, frozen=True):
    """The fields of a kind of node, and the required ones."""

    fields: Mapping[str, str]
    required: tuple[str, ...]


def _kind(text: str) -> Kind:
    words = [word.partition(":") for word in text.split()]
    return Kind(
        {name: form.rstrip("*") for name, _, form in words}, tuple(name for name, _, form in words if form[-1:] == "*")
    )


KINDS = {name: _kind(text) for name, text in _TEXT.items()}
_FORMS = {
    "n": "a number that is not negative", "i": "an integer", "s": "a string", "m": "metadata", "b": "true or false",
    "w": "a name",
}  # fmt: skip
_FLAGS = {
    "DIFlag": frozenset((
        "Private", "Protected", "Public", "FwdDecl", "AppleBlock", "ReservedBit4", "Virtual", "Artificial",
        "Explicit", "Prototyped", "ObjcClassComplete", "ObjectPointer", "Vector", "StaticMember",
        "LValueReference", "RValueReference", "ExportSymbols", "SingleInheritance", "MultipleInheritance",
        "VirtualInheritance", "IntroducedVirtual", "BitField", "NoReturn", "TypePassByValue",
        "TypePassByReference", "EnumClass", "Thunk", "NonTrivial", "BigEndian", "LittleEndian",
        "AllCallsDescribed", "IndirectVirtualBase",
    )),
    "DISPFlag": frozenset((
        "Virtual", "PureVirtual", "LocalToUnit", "Definition", "Optimized", "Pure", "Elemental", "Recursive",
        "MainSubprogram", "Deleted", "ObjCDirect",
    )),
}
_NAMES = {
    "emissionKind": frozenset(("NoDebug", "FullDebug", "LineTablesOnly", "DebugDirectivesOnly")),
    "nameTableKind": frozenset(("Default", "GNU", "None", "Apple")),
    "checksumkind": frozenset(("CSK_MD5", "CSK_SHA1", "CSK_SHA256")),
    "kind": frozenset(("Binary", "Decimal", "Rational")),
}
_PREFIXES = {
    "tag": "DW_TAG_", "encoding": "DW_ATE_", "language": "DW_LANG_", "runtimeLang": "DW_LANG_", "cc": "DW_CC_",
    "virtuality": "DW_VIRTUALITY_", "type": "DW_MACINFO_", "sourceLanguageName": "DW_LNAME_", "flags": "DIFlag",
    "spFlags": "DISPFlag",
}  # fmt: skip


def wrong_value(field: str, form: str, value: Field) -> str | None:
    """Why a field of this form cannot have this value, as text; None if it can."""
    letters = form.rstrip("!0123456789")
    if isinstance(value, Words) and value.text == "...":
        return None  # the value is left out, as in the specification's listings
    if isinstance(value, Words) and "b" not in letters:
        return _wrong_words(field, value.text) if "w" in letters else f"'{field}' must be {_wanted(letters)}"
    fits = {
        "n": isinstance(value, int) and value >= 0,
        "i": isinstance(value, int),
        "s": isinstance(value, Text),
        "m": value is None or isinstance(value, Node | Ref | Operand | Text | tuple),
        "b": isinstance(value, Words) and value.text in ("true", "false"),
        "w": False,
    }
    if not any(fits[letter] for letter in letters):
        return f"'{field}' must be {_wanted(letters)}"
    if value is None and form.endswith("!"):
        return f"'{field}' cannot be null"
    bits = int("".join(filter(str.isdecimal, form)) or 64)
    if isinstance(value, int) and "n" in letters and value >> bits:
        return f"{value} does not fit into '{field}', which has {bits} bits"
    return None


def _wanted(letters: str) -> str:
    return " or ".join(_FORMS[letter] for letter in letters)


def _wrong_words(field: str, text: str) -> str | None:
    names = _NAMES.get(field)
    if names is not None:
        return None if text in names else f"'{field}' must be one of {', '.join(sorted(names))}"
    prefix = _PREFIXES.get(field, "")
    for word in text.split(" | "):
        flags = _FLAGS.get(prefix)
        if not word.startswith(prefix) or (flags is not None and word.removeprefix(prefix) not in flags):
            return f"'{word[:40]}' is not a value of '{field}'"
    return None

