"""Types read from compiled code, their names, and the output of ``ptype`` (as GDB 13 prints them)."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from rocdbg.dwarf.info import (
    VOID,
    ArrayType,
    BaseType,
    ClassKind,
    ClassType,
    DebugInfo,
    Encoding,
    Enumerator,
    EnumType,
    FunctionType,
    Member,
    MemberPointerType,
    Parameter,
    PointerKind,
    PointerType,
    QualifiedType,
    Qualifier,
    Type,
    TypedefType,
    VectorType,
    describe,
    type_name,
)
from rocdbg.dwarf.info.types import ClassBody
from tests.dwarf.info.conftest import debug_sections

INT = BaseType("int", Encoding.SIGNED, 4)
CHAR = BaseType("char", Encoding.SIGNED_CHAR, 1)
FLOAT = BaseType("float", Encoding.FLOAT, 4)


def pointer(target: Type, kind: PointerKind = PointerKind.POINTER) -> PointerType:
    return PointerType(target, kind)


def const(target: Type) -> QualifiedType:
    return QualifiedType(Qualifier.CONST, target)


def volatile(target: Type) -> QualifiedType:
    return QualifiedType(Qualifier.VOLATILE, target)


def structure(name: str | None, *members: Member, tagged: bool = True, size: int = 8) -> ClassType:
    return ClassType(ClassKind.STRUCT, name, name, size, lambda: ClassBody(members), tagged=tagged)


S = structure("S")
F = FunctionType(INT, (Parameter(INT), Parameter(pointer(S))))

NAMES = [
    (VOID, "void", "void x"),
    (INT, "int", "int x"),
    (pointer(INT), "int *", "int *x"),
    (pointer(pointer(CHAR)), "char **", "char **x"),
    (const(pointer(INT)), "int * const", "int * const x"),
    (pointer(const(pointer(INT))), "int * const *", "int * const *x"),
    (const(pointer(const(CHAR))), "const char * const", "const char * const x"),
    (volatile(const(INT)), "const volatile int", "const volatile int x"),
    (pointer(INT, PointerKind.REFERENCE), "int &", "int &x"),
    (pointer(S, PointerKind.RVALUE_REFERENCE), "struct S &&", "struct S &&x"),
    (ArrayType(INT, 3), "int [3]", "int x[3]"),
    (ArrayType(ArrayType(INT, 3), 2), "int [2][3]", "int x[2][3]"),
    (ArrayType(INT, None), "int []", "int x[]"),
    (const(ArrayType(INT, 3)), "const int [3]", "const int x[3]"),
    (pointer(ArrayType(INT, 3)), "int (*)[3]", "int (*x)[3]"),
    (ArrayType(pointer(F), 3), "int (*[3])(int, struct S *)", "int (*x[3])(int, struct S *)"),
    (F, "int (int, struct S *)", "int x(int, struct S *)"),
    (FunctionType(VOID), "void (void)", "void x(void)"),
    (FunctionType(INT, prototyped=False), "int ()", "int x()"),
    (FunctionType(INT, (Parameter(INT),), variadic=True), "int (int, ...)", "int x(int, ...)"),
    (pointer(FunctionType(pointer(F))), "int (*(*)(void))(int, struct S *)", "int (*(*x)(void))(int, struct S *)"),
    (TypedefType("SF", S), "SF", "SF x"),
    (structure("S", tagged=False), "S", "S x"),
    (structure(None), "struct {...}", "struct {...} x"),
    (VectorType(FLOAT, 4, 16), "float __attribute__ ((vector_size(4)))", "float x __attribute__ ((vector_size(4)))"),
    (ArrayType(VectorType(FLOAT, 4, 16), 2), "float [2] __attribute__ ((vector_size(4)))",
     "float x[2] __attribute__ ((vector_size(4)))"),
    (MemberPointerType(INT, structure("ns::C", tagged=False)), "int ns::C::*", "int ns::C::*x"),
    (EnumType("E", "E", (), tagged=True), "enum E", "enum E x"),
    (EnumType(None, None, (), tagged=True), "enum {...}", "enum {...} x"),
]


@pytest.mark.parametrize(("type", "name", "declaration"), NAMES, ids=[name for _, name, _ in NAMES])
def test_names(type: Type, name: str, declaration: str) -> None:
    assert str(type) == name
    assert type_name(type, "x") == declaration


# struct T of a C program, as GDB 13 prints it
INNER = structure(None, Member("d", INT, 0), Member("e", FLOAT, 0))
T = structure(
    "T",
    Member("in", structure(None, Member("b", INT, 0), Member(None, INNER, 32)), 0),
    Member("way", EnumType(None, None, (Enumerator("X", 0), Enumerator("Y", -1)), tagged=True), 0),
    Member("pp", pointer(structure(None, Member("q", INT, 0))), 0),
    Member("f", BaseType("unsigned int", Encoding.UNSIGNED, 4), 64, 3),
)
T_TEXT = """\
struct T {
    struct {
        int b;
        struct {...};
    } in;
    enum {X, Y = -1} way;
    struct {
        int q;
    } *pp;
    unsigned int f : 3;
}"""

DESCRIPTIONS = [
    (T, T_TEXT),
    (pointer(TypedefType("TT", volatile(T))), f"volatile {T_TEXT} *"),
    (FunctionType(T, (Parameter(T),)), f"{T_TEXT} (struct T)"),
    (TypedefType("fn", F), "int (int, struct S *)"),
    (S, "struct S {\n    <no data fields>\n}"),
    (ClassType(ClassKind.STRUCT, "O", "O", None, is_declaration=True), "struct O {\n    <incomplete type>\n}"),
    (EnumType("E", "E", (Enumerator("A", 0), Enumerator("B", 5), Enumerator("C", 6)), tagged=True),
     "enum E {A, B = 5, C}"),
]


@pytest.mark.parametrize(("type", "expected"), DESCRIPTIONS, ids=[str(type) for type, _ in DESCRIPTIONS])
def test_descriptions(type: Type, expected: str) -> None:
    assert describe(type) == expected.split("\n")


def test_strip() -> None:
    alias = TypedefType("A", const(TypedefType("B", S)))
    assert alias.strip_typedefs() is S
    assert const(alias).strip_qualifiers() is alias
    assert const(alias).size == 8


COMPILED = [
    ("shapes.hip", "ns::Row<float, 3>", 28, """\
struct ns::Row<float, 3> [with T = float] : public ns::Base {
    T item[3];
    int low : 3;
    unsigned int high : 5;
    static int count;
    union {
        int x;
        T y;
    };
    ns::Row<T, 3>::Kind kind;
  public:
    T get(int) const;
}"""),
    ("shapes.hip", "Node", 64, """\
struct ns::Node {
    ns::Node *next;
    volatile int * const *p;
    struct {
        char c[2][3];
    } inner;
    int (*call)(int, ns::Node *);
    float4 v;
    ns::Color color;
    bool flag;
}"""),
    ("shapes.hip", "ns::Color", 1, "enum class ns::Color : unsigned char {ns::Color::Red, ns::Color::Green = 7}"),
    ("shapes.hip", "Kind", 4, "enum ns::Row<float, 3>::Kind : unsigned int {"
     "ns::Row<float, 3>::A, ns::Row<float, 3>::B = 5, ns::Row<float, 3>::C}"),
    ("shapes.hip", "float4", 16, "float __attribute__ ((vector_size(4)))"),
    ("plain.cl", "Pair", 8, "struct {\n    int a;\n    float b;\n}"),
    ("plain.cl", "Link", 48, """\
struct Link {
    Link *next;
    char c;
    Pair pairs[2];
    float3 f;
}"""),
    ("plain.cl", "float3", 16, "float __attribute__ ((vector_size(3)))"),
    ("plain.cl", "half", 2, "half"),
]


@pytest.mark.llvm
@pytest.mark.parametrize("options", [("-O0",), ("-O2", "-gdwarf-4")], ids=" ".join)
@pytest.mark.parametrize(("source", "name", "size", "expected"), COMPILED, ids=[case[1] for case in COMPILED])
def test_compiled_types(
    opened: Callable[..., DebugInfo], options: tuple[str, ...], source: str, name: str, size: int, expected: str
) -> None:
    type, = opened(source, *options).types_named(name)
    assert type.size == size
    assert "\n".join(describe(type)) == expected


@pytest.mark.llvm
@pytest.mark.parametrize("version", [2, 3, 4, 5])
def test_member_layout(opened: Callable[..., DebugInfo], version: int) -> None:
    row, = opened("shapes.hip", "-O0", f"-gdwarf-{version}").types_named("ns::Row<float, 3>")
    assert isinstance(row, ClassType)
    assert [(member.name, member.bit_offset, member.bit_size) for member in row.members] == [
        ("item", 32, None), ("low", 128, 3), ("high", 131, 5), (None, 160, None), ("kind", 192, None),
    ]
    base, = row.bases
    assert (str(base.type), base.byte_offset, base.virtual) == ("ns::Base", 0, False)
    assert [member.name for member in row.static_members] == ["count"]
    assert [method.linkage_name for method in row.methods] == ["_ZNK2ns3RowIfLi3EE3getEi"]
    assert [argument.name for argument in row.body.template_arguments] == ["T", "N"]


@pytest.mark.llvm
def test_self_reference_and_address_classes(opened: Callable[..., DebugInfo]) -> None:
    info = opened("plain.cl", "-O0")
    link, = info.types_named("Link")
    assert isinstance(link, ClassType)
    following = link.members[0].type
    assert isinstance(following, PointerType) and following.target is link
    assert info.type_at(link.offset or 0) is link and info.complete_type(link) is link
    helper, = info.functions_named("helper")
    spaces = [
        variable.type.address_class for variable in helper.parameters if isinstance(variable.type, PointerType)
    ]
    assert spaces == [3, None, 5]


@pytest.mark.llvm
@pytest.mark.parametrize(("pattern", "expected"), [
    ("^ns::", ["ns::Base", "ns::Color", "ns::Node", "ns::Row<float, 3>", "ns::Row<float, 3>::Kind"]),
    ("^(Row|unsigned)", ["Row3", "unsigned char", "unsigned int"]),
])
def test_types_by_pattern(opened: Callable[..., DebugInfo], pattern: str, expected: list[str]) -> None:
    assert [str(type) for type in opened("shapes.hip", "-O0").types_matching(pattern)] == expected


def test_classes_and_enumerations_are_compared_by_identity() -> None:
    from rocdbg.dwarf.info.types import ClassKind, ClassType, EnumType, PointerType

    one, other = (ClassType(ClassKind.STRUCT, name, name, 4) for name in "ab")
    assert one == one and one != other and PointerType(one) != PointerType(other)
    red, blue = (EnumType(name, name, ()) for name in ("red", "blue"))
    assert red != blue and len({red, blue, one, other}) == 4


# A tag may be a structure's in one unit and an enumeration's in another.
UNITS = (
    "struct Tag; struct Tag *pointer; enum Other *strange;",
    "enum Tag { A } enumeration; struct Other { int x; } other;",
)


@pytest.mark.llvm
def test_a_definition_is_of_the_kind_of_its_declaration(tmp_path: Path) -> None:
    objects = []
    for number, text in enumerate(UNITS):
        source = tmp_path / f"{number}.c"
        source.write_text(text)
        objects.append(str(source.with_suffix(".o")))
        subprocess.run(
            ["clang-22", "-target", "amdgcn-amd-amdhsa", "-mcpu=gfx90a", "-nogpulib", "-g", "-c", str(source),
             "-o", objects[-1]], check=True, timeout=60,
        )
    linked = tmp_path / "linked.co"
    subprocess.run(["ld.lld-22", "-shared", *objects, "-o", str(linked)], check=True, timeout=60)
    info = DebugInfo(debug_sections(linked))
    for name, kind in (("pointer", ClassType), ("strange", EnumType)):
        variable, = info.variables_named(name)
        assert isinstance(variable.type, PointerType)
        declared = variable.type.target
        assert isinstance(declared, kind) and declared.is_declaration
        assert info.complete_type(declared) is declared
