"""Types as text: names and ``ptype``, as GDB prints them."""

from __future__ import annotations

import re
from dataclasses import replace

from rocdbg.dwarf.info.types import (
    Access,
    ArrayType,
    BaseType,
    ClassKind,
    ClassType,
    EnumType,
    FunctionType,
    Member,
    MemberPointerType,
    Method,
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


def type_name(type: Type, declarator: str = "") -> str:
    """The name of a type as ``whatis`` prints it, wrapped around ``declarator``.

    ``type_name(t, "f")`` declares ``f``: ``int (*f)(int)``, ``char f[3][4]``.
    """
    return type.declare(declarator)


def describe(type: Type) -> list[str]:
    """The lines ``ptype`` prints after ``type = ``: typedefs resolved, classes and enumerations with their
    bodies.

    As in GDB the type at the end of pointers, arrays and function results is expanded: ``struct S {`` ...
    ``} *``.
    """
    return _resolve(type).declare("", _Leaves(show=1).text).split("\n")


class _Leaves:
    """Writes what is at the end of a declarator. ``show``: how many levels of bodies to write, as GDB counts.

    From 1 on a body is written, at 0 only that of an anonymous class, below 0 none. ``names`` are the
    template arguments to abbreviate by their parameters' names; ``indent`` is the column bodies stand in.
    """

    def __init__(self, show: int, indent: int = 0, names: dict[str, str] | None = None) -> None:
        self.show = show
        self.indent = indent
        self.names = names or {}

    def text(self, type: Type) -> str:
        match type:
            case BaseType(name=name) | UnspecifiedType(name=name):
                return self.names.get(name, name)
            case TypedefType(name=name, qualified_name=qualified):
                return self._abbreviate(qualified or name)
            case ClassType():
                return self._class(type)
            case EnumType():
                return self._enum(type)
        return type.spelled()

    def _abbreviate(self, name: str) -> str:
        """Inside a class template, its arguments go by the names of the parameters."""
        if name in self.names or "<" not in name:
            return self.names.get(name, name)
        start = name.index("<")
        rest = name[start:]
        for value, parameter in self.names.items():
            rest = re.sub(rf"(?<![\w:]){re.escape(value)}(?![\w:])", parameter, rest)
        return name[:start] + rest

    def _class(self, type: ClassType) -> str:
        name = self._abbreviate(type.qualified_name) if type.qualified_name else None
        if self.show < 0 or (name is not None and self.show == 0):
            return type.spelled_as(name)
        head = type.kind.value if name is None else f"{type.kind.value} {type.qualified_name}"
        return f"{head} {_class_body(type, self)}"

    def _enum(self, type: EnumType) -> str:
        name = self._abbreviate(type.qualified_name) if type.qualified_name else None
        if self.show < 0 or (name is not None and self.show == 0):
            return type.spelled_as(name)
        head = type.keyword if name is None else f"{type.keyword} {type.qualified_name}"
        if not type.tagged and not isinstance(type.underlying, VoidType):
            head += f" : {type.underlying}"
        if type.is_declaration and not type.enumerators:
            return f"{head} {{<incomplete type>}}"
        return f"{head} {{{', '.join(_enumerators(type))}}}"


def _enumerators(type: EnumType) -> list[str]:
    """``A``, ``B = 5``, ``C``: values are written where they do not follow from the one before."""
    shown, expected = [], 0
    for item in type.enumerators:
        shown.append(f"{type.enumerator_scope}{item.name}" + (f" = {item.value}" if item.value != expected else ""))
        expected = item.value + 1
    return shown


def _resolve(type: Type) -> Type:
    """The type with typedefs resolved along its declarator, down to its end."""
    match type:
        case TypedefType(target=target):
            return _resolve(target)
        case QualifiedType(target=target) | PointerType(target=target) | MemberPointerType(target=target):
            return replace(type, target=_resolve(target))
        case ArrayType(element=element) | VectorType(element=element):
            return replace(type, element=_resolve(element))
        case FunctionType(return_type=result):
            return replace(type, return_type=_resolve(result))
    return type


def _class_body(type: ClassType, leaves: _Leaves) -> str:
    body = type.body
    indent = " " * (leaves.indent + 4)
    names = {**leaves.names, **_template_names(body.template_arguments)}
    inner = _Leaves(leaves.show - 1, leaves.indent + 4, names)
    types = [argument for argument in body.template_arguments if argument.value is None and argument.name]
    head = ""
    if types:
        head = f"[with {', '.join(f'{argument.name} = {argument.type}' for argument in types)}] "
    if body.bases:
        bases = (
            f"{base.access.name.lower()} {'virtual ' if base.virtual else ''}{base.type}"
            for base in body.bases
        )
        head += f": {', '.join(bases)} "
    data: tuple[Member | StaticMember, ...] = (*body.members, *body.static_members)
    fields = [
        (member.access, _member_text(member, inner))
        for member in sorted(data, key=lambda member: member.offset or 0)
        if not (member.name or "").startswith("_vptr")
    ]
    methods = [
        (method.access, _method_text(type, method, names)) for method in body.methods if not method.artificial
    ]
    lines = [head + "{"]
    if not fields and not methods:
        incomplete = type.is_declaration and type.byte_size is None
        lines.append(f"{indent}<{'incomplete type' if incomplete else 'no data fields'}>")
    labels = _needs_labels(type, [access for access, _ in fields + methods])
    current: Access | None = None
    for number, (access, text) in enumerate(fields + methods):
        is_method = number >= len(fields)
        if number == len(fields) and current is not None:
            lines.append("")
        if (labels or is_method) and access != current:  # GDB labels methods even where all is public
            lines.append(f"{indent[2:]}{access.name.lower()}:")
            current = access
        lines.append(f"{indent}{text}")
    lines.append(" " * leaves.indent + "}")
    return "\n".join(lines)


def _template_names(arguments: tuple[TemplateArgument, ...]) -> dict[str, str]:
    return {
        str(argument.type): argument.name
        for argument in arguments if argument.value is None and argument.name
    }


def _needs_labels(type: ClassType, accesses: list[Access]) -> bool:
    """Labels are written unless everything has the access the keyword gives."""
    if type.tagged:
        return False
    default = Access.PRIVATE if type.kind is ClassKind.CLASS else Access.PUBLIC
    return any(access != default for access in accesses)


def _member_text(member: Member | StaticMember, leaves: _Leaves) -> str:
    declared = member.type.declare(member.name or "", leaves.text)
    if isinstance(member, StaticMember):
        return f"static {declared};"
    return f"{declared};" if member.bit_size is None else f"{declared} : {member.bit_size};"


def _method_text(owner: ClassType, method: Method, names: dict[str, str]) -> str:
    spell = _Leaves(show=-1, names=names).text
    text = f"{method.name}({method.type.parameter_list(without_this=True, spell=spell)})"
    bare = (owner.name or "").partition("<")[0]
    if method.name.lstrip("~") != bare:
        # of a pointer, too, GDB puts the space between it and the name
        text = f"{method.type.return_type.declare('', spell)} {text}"
    prefix = "static " if method.static else "virtual " if method.virtual else ""
    return f"{prefix}{text}{' const' if _is_const(method) else ''};"


def _is_const(method: Method) -> bool:
    """True when ``this`` points to something constant."""
    if not method.type.parameters or method.static:
        return False
    this = method.type.parameters[0].type.strip_typedefs()
    return (
        isinstance(this, PointerType)
        and isinstance(this.target, QualifiedType)
        and this.target.qualifier is Qualifier.CONST
    )
