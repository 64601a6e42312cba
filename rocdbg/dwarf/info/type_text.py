"""Types as text: names and ``ptype``, as GDB prints them."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

from msgspec import Struct
from msgspec.structs import replace as changed

from rocdbg.dwarf.info.name_matching import with_characters
from rocdbg.dwarf.info.types import (
    Access,
    ArrayType,
    BaseType,
    ClassKind,
    ClassType,
    EnumType,
    FlagsType,
    FunctionType,
    Member,
    MemberPointerType,
    Method,
    PointerType,
    QualifiedType,
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


class Shown(Struct, frozen=True):
    """Which parts of classes are shown: GDB's letters after ``ptype/``."""

    methods: bool = True
    typedefs: bool = True
    raw: bool = False
    """Whether template arguments and typedefs of the class are written out instead of referred to by their names in the
    class.
    """
    nested: int = 0
    """How many levels of nested classes and enumerations are written; -1 for all."""


ALL = Shown()


def describe(type: Type, shown: Shown = ALL, complete: Callable[[Type], Type] = lambda type: type) -> list[str]:
    """The lines ``ptype`` prints after ``type = ``: typedefs resolved, classes and enumerations with their
    bodies. ``complete`` gives the definition of what is only declared.

    As in GDB the type at the end of pointers, arrays and function results is expanded: ``struct S {`` ...
    ``} *``.
    """
    return resolve(type, complete).declare("", Leaves(show=1, shown=shown).text).split("\n")


class Leaves:
    """Writes the type at the end of a declarator. ``show`` is how many levels of bodies to write, as GDB counts them.

    If it is 1 or more, bodies are written; if 0, only that of an anonymous class; if less, none. ``names`` holds the
    types that have other names in the enclosing class (template parameters, its typedefs); ``indent`` is the column of
    bodies.
    """

    def __init__(
        self, show: int, indent: int = 0, names: dict[str, str] | None = None, shown: Shown = ALL
    ) -> None:
        self.show = show
        self.indent = indent
        self.names = names or {}
        self.shown = shown

    def text(self, type: Type) -> str:
        match type:
            case FlagsType() if self.show > 0:
                return self._flags(type)
            case BaseType(name=name) | UnspecifiedType(name=name):
                return self.names.get(name, name)
            case TypedefType(name=name, qualified_name=qualified):
                return self.abbreviate(qualified or name)
            case ClassType():
                return self._class(type)
            case EnumType():
                return self._enum(type)
        return type.spelled()

    def declared(self, type: Type, name: str) -> str:
        """Write the declaration of a member, using the class's own name for its type if there is one."""
        local = self.names.get(str(type))
        return f"{local} {name}" if local is not None else type.declare(name, self.text)

    def abbreviate(self, name: str) -> str:
        """A name inside a class template, with template arguments replaced by the names of the parameters."""
        if name in self.names or "<" not in name:
            return self.names.get(name, name)
        start = name.index("<")
        rest = name[start:]
        values = "|".join(map(re.escape, sorted(self.names, key=len, reverse=True)))
        if values:  # in one pass, so that the result of a replacement is not replaced again
            rest = re.sub(rf"(?<![\w:])(?:{values})(?![\w:])", lambda match: self.names[match[0]], rest)
        return name[:start] + re.sub(r"(?<!>) >", ">", rest)

    def _class(self, type: ClassType) -> str:
        name = self.abbreviate(type.qualified_name) if type.qualified_name else None
        if self.show < 0 or (name is not None and self.show == 0):
            return type.spelled_as(name)
        return f"{class_head(type, self.shown.raw, self.names)} {_class_body(type, self)}"

    def _flags(self, type: FlagsType) -> str:
        indent = " " * (self.indent + 4)
        lines = [f"flag {type.name} {{"]
        for field in type.fields:
            last = f"-{field.first + field.width - 1}" if field.width > 1 else ""
            lines.append(f"{indent}{field.type.declare(field.name, self.text)} @{field.first}{last};")
        return "\n".join([*lines, f"{' ' * self.indent}}}"])

    def _enum(self, type: EnumType) -> str:
        name = self.abbreviate(type.qualified_name) if type.qualified_name else None
        if self.show < 0 or (name is not None and self.show == 0):
            return type.spelled_as(name)
        head = type.keyword if name is None else f"{type.keyword} {type.qualified_name}"
        if type.underlying_shown and not isinstance(type.underlying, VoidType):
            head += f" : {type.underlying}"
        if type.is_declaration and not type.enumerators:
            return f"{head} {{<incomplete type>}}"
        return f"{head} {{{', '.join(_enumerators(type))}}}"


def _enumerators(type: EnumType) -> list[str]:
    """``A``, ``B = 5``, ``C``: a value is written if it does not follow from the previous one."""
    shown, expected = [], 0
    for item in type.enumerators:
        shown.append(f"{type.enumerator_scope}{item.name}" + (f" = {item.value}" if item.value != expected else ""))
        expected = item.value + 1
    return shown


def resolve(type: Type, complete: Callable[[Type], Type] = lambda type: type) -> Type:
    """The type with typedefs resolved along its declarator, down to its end, which is completed."""
    match type:
        case TypedefType(target=target):
            return resolve(target, complete)
        case QualifiedType(target=target) | PointerType(target=target) | MemberPointerType(target=target):
            return replace(type, target=resolve(target, complete))
        case ArrayType(element=element) | VectorType(element=element):
            return replace(type, element=resolve(element, complete))
        case FunctionType(return_type=result):
            return replace(type, return_type=resolve(result, complete))
    return complete(type)


def class_head(type: ClassType, raw: bool = False, around: dict[str, str] | None = None) -> str:
    """``struct S [with T = int] : public Base``, without a body; ``raw``: without the template arguments.

    ``around``: the names of types in the enclosing class.
    """
    names = Leaves(-1, names=around)
    title = names.abbreviate(type.qualified_name) if type.qualified_name else ""
    head = f"{type.kind.value} {with_characters(title)}".rstrip()
    types = [item for item in type.body.template_arguments if item.value is None and item.name]
    if types and not raw:
        meant = (f"{item.name} = {names.names.get(str(item.type), str(item.type))}" for item in types)
        head += f" [with {', '.join(meant)}]"
    if type.bases:
        inner = names if raw else Leaves(-1, names=_template_names(type.body.template_arguments) | names.names)
        bases = (
            f"{base.access.name.lower()} {'virtual ' if base.virtual else ''}{inner.abbreviate(str(base.type))}"
            for base in type.bases
        )
        head += f" : {', '.join(bases)}"
    return head


def data_members(type: ClassType) -> list[tuple[Access, Member | StaticMember]]:
    """The members as they are listed, with their access: compiler-generated members count as private, and virtual
    tables are not shown.
    """
    data: tuple[Member | StaticMember, ...] = (*type.members, *type.static_members)
    return [
        (_access(member), member)
        for member in sorted(data, key=lambda member: member.offset or 0)
        if not (member.name or "").startswith("_vptr")
    ]


def _access(member: Member | StaticMember) -> Access:
    return Access.PRIVATE if isinstance(member, Member) and member.artificial else member.access


def local_names(type: ClassType, around: dict[str, str], shown: Shown = ALL) -> dict[str, str]:
    """The names of types in a class, from its template parameters and typedefs."""
    if shown.raw:
        return {}
    own = {}
    for nested in type.body.nested_types:
        if isinstance(nested, TypedefType):
            own[nested.qualified_name or nested.name] = nested.name
    return own | _template_names(type.body.template_arguments) | around  # names of the enclosing class take precedence


def _class_body(type: ClassType, leaves: Leaves) -> str:
    body, shown = type.body, leaves.shown
    indent = " " * (leaves.indent + 4)
    names = local_names(type, leaves.names, shown)
    inner = Leaves(leaves.show - 1, leaves.indent + 4, names, shown)
    fields = [(access, member_text(member, inner)) for access, member in data_members(type)]
    methods = [
        (method.access, _method_text(type, method, names, shown))
        for method in body.methods if shown.methods and not method.artificial
    ]
    lines = ["{"]
    if not fields and not methods and not any(isinstance(item, TypedefType) for item in body.nested_types):
        incomplete = type.is_declaration and type.byte_size is None
        lines.append(f"{indent}<{'incomplete type' if incomplete else 'no data fields'}>")
    labels = needs_labels(type)
    current: Access | None = None
    for number, (access, text) in enumerate(fields + methods):
        is_method = number >= len(fields)
        if number == len(fields) and current is not None:
            lines.append("")
        if (labels or is_method) and access != current:  # GDB writes labels before methods even where all is public
            lines.append(f"{indent[2:]}{access.name.lower()}:")
            current = access
        lines.append(f"{indent}{text}")
    nested = [item for item in body.nested_types if isinstance(item, ClassType | EnumType)] if shown.nested else []
    if nested and (fields or methods):
        lines.append("")
    if nested:
        deeper = Leaves(1, leaves.indent + 4, names, changed(shown, nested=shown.nested - 1))
        lines += [f"{indent}{deeper.text(item)};" for item in nested]
    typedefs = [item for item in body.nested_types if isinstance(item, TypedefType)] if shown.typedefs else []
    if typedefs and (fields or methods or nested):
        lines.append("")
    parameters = {} if shown.raw else _template_names(body.template_arguments)
    outer = Leaves(show=-1, names=parameters | leaves.names)
    lines += [f"{indent}typedef {item.target.declare(item.name, outer.text)};" for item in typedefs]
    lines.append(" " * leaves.indent + "}")
    return "\n".join(lines)


def _template_names(arguments: tuple[TemplateArgument, ...]) -> dict[str, str]:
    return {
        str(argument.type): argument.name  # if two names mean the same type, the first is used
        for argument in reversed(arguments) if argument.value is None and argument.name
    }


def needs_labels(type: ClassType) -> bool:
    """Whether access labels are written, which they are unless all members have the default access of the class's
    keyword.
    """
    if type.tagged:
        return False
    accesses = [_access(member) for member in type.members]
    accesses += [member.access for member in type.static_members] + [method.access for method in type.methods]
    default = Access.PRIVATE if type.kind is ClassKind.CLASS else Access.PUBLIC
    return any(access != default for access in accesses)


def member_text(member: Member | StaticMember, leaves: Leaves) -> str:
    """The declaration of a member, with the width of a bit-field."""
    declared = leaves.declared(member.type, member.name or "")
    if isinstance(member, StaticMember):
        return f"static {declared};"
    return f"{declared};" if member.bit_size is None else f"{declared} : {member.bit_size};"


def _method_text(owner: ClassType, method: Method, names: dict[str, str], shown: Shown) -> str:
    spell = Leaves(show=-1, names=names).text
    # GDB writes the members of a parameter whose class has no name (a closure)
    parameters = method.type.parameter_list(without_this=True, spell=Leaves(show=0, names=names, shown=shown).text)
    text = f"{method.name}({parameters})"
    bare = (owner.name or "").partition("<")[0]
    if method.name.lstrip("~") != bare and not _is_conversion(method):
        # GDB puts a space before the name even after a pointer
        text = f"{method.type.return_type.declare('', spell)} {text}"
    prefix = "static " if method.static else "virtual " if method.virtual else ""
    return f"{prefix}{text}{' const' if method.is_const else ''};"


def _is_conversion(method: Method) -> bool:
    """Whether it is a conversion such as ``operator float``, whose name contains its type."""
    word, _, rest = method.name.partition(" ")
    return word == "operator" and rest[:1].isidentifier() and rest.partition(" ")[0] not in ("new", "delete")
