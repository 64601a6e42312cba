"""Functions, scopes and variables of compiled code."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from rocdbg.dwarf.info import (
    Constant,
    DebugInfo,
    Exprloc,
    Function,
    InlinedSubroutine,
    LexicalBlock,
    Loclist,
    Scope,
)

pytestmark = pytest.mark.llvm

Opened = Callable[..., DebugInfo]


def outline(scope: Scope, depth: int = 0) -> list[str]:
    """Kind, name and variables; a star marks a variable without location."""
    names = " ".join(f"{variable.name}{'' if variable.location else '*'}" for variable in scope.variables)
    lines = [f"{'  ' * depth}{type(scope).__name__} {scope.name or '-'}: {names}"]
    for child in scope.children:
        lines += outline(child, depth + 1)
    return lines


TARGETS = ["gfx90a", "gfx942", "gfx1030", "gfx1100"]


@pytest.mark.parametrize("arch", TARGETS)
@pytest.mark.parametrize("version", [4, 5])
def test_scopes_unoptimised(opened: Opened, arch: str, version: int) -> None:
    kernel, = opened("shapes.hip", "-O0", f"-gdwarf-{version}", arch=arch).functions_named("kern<2>")
    assert outline(kernel) == [
        "Function kern<2>: tile* p n row v i",
        "  LexicalBlock -: t",
        "    LexicalBlock -: k",
        "      LexicalBlock -: q",
    ]


@pytest.mark.parametrize("arch", TARGETS)
def test_scopes_optimised(opened: Opened, arch: str) -> None:
    info = opened("shapes.hip", "-O2", arch=arch)
    kernel, = info.functions_named("kern<2>")
    # "this" of get was dropped from the inlined instance; it is listed, without a location
    lines = outline(kernel)
    assert lines[:2] == ["Function kern<2>: tile* p* n* row* v* i", "  LexicalBlock -: t"]
    assert any(line.startswith("    InlinedSubroutine get: this* i") for line in lines)
    get = next(scope for scope in kernel.children[0].children if isinstance(scope, InlinedSubroutine))
    assert (get.function.qualified_name, get.call_line) == ("ns::Row<float, 3>::get", 49)
    assert get.call_file is not None and get.call_file.path == "/src/shapes.hip"
    pc = get.low_pc
    assert pc is not None
    assert [type(scope) for scope in info.scopes_at(pc)] == [InlinedSubroutine, LexicalBlock, Function]
    assert info.inline_frames_at(pc) == (get,)
    assert info.function_at(pc) == kernel
    row = info.line_at(pc)
    assert row is not None and row.line == 17
    assert [part.low for part in (*get.ranges,)] == [
        location.address for location in info.breakpoint_locations(get.function)
    ][:1]
    assert info.scopes_at(0x10) == () and info.line_at(0x10) is None


@pytest.mark.parametrize("options", [("-O0",), ("-O2",), ("-O2", "-gdwarf-4")], ids=" ".join)
def test_facts(opened: Opened, options: tuple[str, ...]) -> None:
    info = opened("shapes.hip", *options)
    add, = info.functions_named("ns::add")
    assert (add.name, add.qualified_name, add.linkage_name) == ("add", "ns::add", "_ZN2ns3addEii")
    assert (add.display_name, str(add.type)) == ("ns::add(int, int)", "int (int, int)")
    assert (add.decl_line, add.external, add.is_kernel, add.is_inline) == (34, True, False, False)
    assert add.decl_file is not None and add.decl_file.name == "shapes.hip"
    assert [(variable.name, variable.is_parameter, variable.decl_line) for variable in add.variables] == [
        ("a", True, 34), ("b", True, 34), ("c", False, 36),
    ]
    assert isinstance(add.frame_base, Exprloc)
    assert add.low_pc == add.entry_pc
    assert add.contains(add.low_pc or 0) and not add.contains(add.high_pc or 0)
    kernel, = info.functions_named("kern<3>")
    argument, = kernel.template_arguments
    assert (argument.name, str(argument.type), argument.value) == ("N", "int", Constant(3, None))


def test_method_takes_its_name_from_the_declaration(opened: Opened) -> None:
    get, = opened("shapes.hip", "-O0").functions_named("get")
    assert get.qualified_name == "ns::Row<float, 3>::get"
    assert get.linkage_name == "_ZNK2ns3RowIfLi3EE3getEi"
    assert [(variable.name, variable.artificial) for variable in get.parameters] == [("this", True), ("i", False)]
    assert str(get.return_type) == "float"


def test_locations(opened: Opened) -> None:
    plain = opened("shapes.hip", "-O0").functions_named("add")[0]
    # fbreg 4, lit1, swap, xderef: what clang writes for the private segment in HIP
    assert [variable.location for variable in plain.variables] == [
        Exprloc(b"\x91\x04\x31\x16\x18"), Exprloc(b"\x91\x08\x31\x16\x18"), Exprloc(b"\x91\x0c\x31\x16\x18"),
    ]
    kernel = opened("shapes.hip", "-O2").functions_named("kern<2>")[0]
    location = kernel.variables[-1].location
    assert isinstance(location, Loclist)
    assert (location.section_name, location.unit) == (".debug_loclists", kernel.unit)


def test_opencl_kernels_know_that_they_are(opened: Opened) -> None:
    info = opened("plain.cl", "-O0")
    assert [(function.linkage_name, function.is_kernel) for function in info.functions_named("plain")] == [
        ("__clang_ocl_kern_imp_plain", True), (None, True),
    ]
    helper, = info.functions_named("helper")
    assert (helper.is_kernel, helper.display_name) == (False, "helper")
    # pointers into local and private memory have four bytes, regardless of the unit's address size
    assert [variable.type.size for variable in helper.parameters] == [4, 8, 4]


NAMES = [
    ("add", ["ns::add"]),
    ("ns::add", ["ns::add"]),
    ("::ns::add", ["ns::add"]),
    ("::add", []),
    ("dd", []),
    ("add(int, int)", ["ns::add"]),
    ("add( int,int )", ["ns::add"]),
    ("add(int)", []),
    ("_ZN2ns3addEii", ["ns::add"]),
    ("kern", ["kern<2>", "kern<3>"]),
    ("kern<3>", ["kern<3>"]),
    ("kern< 3 >", ["kern<3>"]),
    ("kern<4>", []),
    ("get", ["ns::Row<float, 3>::get"]),
    ("Row::get", ["ns::Row<float, 3>::get"]),
    ("Row<float,3>::get(int)", ["ns::Row<float, 3>::get"]),
    ("Row<float,4>::get", []),
    ("", []),
    ("::", []),
]


@pytest.mark.parametrize(("name", "expected"), NAMES)
@pytest.mark.parametrize("level", [0, 2])
def test_functions_by_name(opened: Opened, level: int, name: str, expected: list[str]) -> None:
    found = opened("shapes.hip", f"-O{level}").functions_named(name)
    assert [function.qualified_name for function in found] == expected


@pytest.mark.parametrize(("pattern", "expected"), [
    ("", ["kern<2>", "kern<3>", "links", "ns::Row<float, 3>::get", "ns::add"]),
    ("^kern", ["kern<2>", "kern<3>"]),
    ("ns::.*(a|g)", ["ns::Row<float, 3>::get", "ns::add"]),
    ("nothing", []),
])
def test_functions_by_pattern(opened: Opened, pattern: str, expected: list[str]) -> None:
    found = opened("shapes.hip", "-O2").functions_matching(pattern)
    assert [function.qualified_name for function in found] == expected


def test_global_variables(opened: Opened) -> None:
    info = opened("shapes.hip", "-O0")
    for name in ("scale", "ns::scale", "::ns::scale"):
        variable, = info.variables_named(name)
        assert (variable.qualified_name, str(variable.type)) == ("ns::scale", "int")
        assert isinstance(variable.location, Exprloc)
    count, = info.variables_named("Row<float, 3>::count")
    assert count.declaration and count.location is None
    assert [variable.name for variable in info.global_variables_matching("s")] == ["scale"]
    table, = opened("plain.cl", "-O0").variables_named("table")
    assert (str(table.type), table.decl_line) == ("int [3]", 12)


def test_local_types(opened: Opened) -> None:
    function = opened("plain.cl", "-O0").functions_named("plain")[0]
    assert [str(type) for type in function.types] == ["Way"]


@pytest.mark.parametrize("arch", TARGETS)
def test_every_address_of_a_function_finds_it(opened: Opened, arch: str) -> None:
    info = opened("shapes.hip", "-O2", arch=arch)
    for function in info.functions_matching():
        for low, high in function.ranges:
            assert all(info.function_at(pc) == function for pc in (low, low + 4, high - 4))
            assert info.function_at(high) != function
            assert info.unit_at(low) == function.unit


def test_call_sites(opened: Opened) -> None:
    info = opened("shapes.hip", "-O2")
    kernel, = info.functions_named("kern<2>")
    assert len(kernel.call_sites) == 2  # the loop is unrolled
    for site in kernel.call_sites:
        assert site.return_pc is not None and kernel.contains(site.return_pc)
        assert not site.tail_call


def test_code_ranges_tell_dropped_functions(
    sections: Callable[..., dict[str, bytes]], opened: Opened
) -> None:
    whole = opened("shapes.hip", "-O0")
    add, = whole.functions_named("add")
    info = DebugInfo(sections("shapes.hip", "-O0"), code=add.ranges)
    assert [function.name for function in info.functions_matching()] == ["add"]
    assert info.line_at(add.low_pc or 0) == whole.line_at(add.low_pc or 0)
    assert info.addresses_of("shapes.hip", 49) == []
