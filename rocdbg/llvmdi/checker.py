"""Checks the rules of the specification ("is not well-formed", "is required"), with one method for each of its
sections.

    for finding in rocdbg.llvmdi.check(module): print(finding)
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

from msgspec import Struct

from rocdbg.llvmdi.di_expressions import is_diop
from rocdbg.llvmdi.dwarf_expressions import broken_expression
from rocdbg.llvmdi.errors import NotWellFormed, Position
from rocdbg.llvmdi.function_flow import contains
from rocdbg.llvmdi.lifetime_graph import LifetimeGraph
from rocdbg.llvmdi.llvm_types import Type
from rocdbg.llvmdi.module import Function, Module, Node, Operand, Ref
from rocdbg.llvmdi.module_debug_info import DebugInfo
from rocdbg.llvmdi.overlap import overlapping
from rocdbg.llvmdi.segments import CODES, OBJECTS, Occurrence, Segment
from rocdbg.llvmdi.upstream_rules import broken_record
from rocdbg.text import printable
from rocdbg.work import doing, unit

__all__ = ["Finding", "check", "check_debug_info"]

_DISTINCT = ("DIFragment", "DIExprCode", "DILifetime")
_ABSTRACT = ("DIObject", "DIVariable", "DICode")
_FIELDS: dict[str, tuple[str, ...]] = {
    "DIFragment": (), "DIExprCode": (), "DILifetime": ("object", "location", "argObjects"),
}


class Finding(Struct, frozen=True):
    """Something that is wrong. `rule` names the section or operation whose rule it is.

    Notes do not report a broken rule: either the specification is silent, or a listing is spelled differently from its
    definition.
    """

    rule: str
    reason: str
    position: Position
    is_note: bool = False

    def __str__(self) -> str:
        kind = "note" if self.is_note else "not well-formed"
        return printable(f"{self.position}: {kind}: {self.reason} [{self.rule}]")


def check(module: Module) -> list[Finding]:
    """All problems in a module's debug information, in the order of the module's text."""
    with doing("checking debug information"):
        return check_debug_info(DebugInfo(module))


def check_debug_info(info: DebugInfo) -> list[Finding]:
    """`check`, for debug information that has already been built."""
    found = sorted(
        _Checker(info).findings(), key=lambda item: (item.position.line, item.position.column, item.rule, item.reason)
    )
    return list(dict.fromkeys(found))


class _Checker:
    """One check of a module."""

    def __init__(self, info: DebugInfo) -> None:
        self.info = info
        self.module = info.module
        self.graph = LifetimeGraph(info)
        self.types: dict[str, dict[str, Type | None]] = {}
        self.tuples: dict[Node, set[Node]] = {}
        """The elements of metadata tuples."""
        self.is_document = any(node.kind == "DILifetime" for node in info.nodes)

    def findings(self) -> Iterator[Finding]:
        for offset, words, in_listings in self.module.faults:
            if not in_listings or ("llvm.module.flags" in self.module.named and not self.is_document):
                yield self._at("metadata", words, offset)
        yield from self._references()
        yield from self._instructions()
        yield from self._nodes()
        yield from self._attachments()
        for segment in self.info.segments:
            unit()
            if segment.node is not None:
                yield from self._lifetime(segment, segment.node)
            else:
                yield from self._record(segment)
            yield from self._expression(segment)
        yield from self._graph()
        if self.is_document:
            yield from self._retention()
        yield from self._spellings()  # last, when the references in expressions are known

    def _at(self, rule: str, reason: str, offset: int, is_note: bool = False) -> Finding:
        return Finding(rule, reason, self.module.position(offset), is_note)

    def _offset(self, occurrence: Occurrence) -> int:
        return self.info.flows[occurrence.function.name].instructions[occurrence.index].offset

    def _references(self) -> Iterator[Finding]:
        """Check that every reference such as `!12` in debug information leads to a node."""
        for node in self.info.nodes:
            values = [*node.fields.items(), *(("", element) for element in node.elements)]
            while values:
                field, value = values.pop()
                if isinstance(value, tuple):
                    values += [(field, item) for item in value]
                elif isinstance(value, Ref) and self.module.resolve(value) is None:
                    yield self._at("metadata", f"the node !{value.name} is not defined", value.offset)

    def _spellings(self) -> Iterator[Finding]:
        for offset, words in self.module.spellings:
            yield self._at("spelling", words, offset, is_note=True)

    # Instructions and intrinsics

    def _instructions(self) -> Iterator[Finding]:
        for occurrence, words in self.info.stray:
            yield self._at("intrinsics", words, self._offset(occurrence))
        for flow in self.info.flows.values():
            for index, label in flow.unknown:
                yield self._at("control flow", f"there is no block '{label}'", flow.instructions[index].offset)

    # Nodes

    def _nodes(self) -> Iterator[Finding]:
        for node in self.info.nodes:
            unit()
            broken = broken_expression(node)
            if broken is not None:
                yield self._at("DIExpression", *broken)
            if node.kind in _ABSTRACT:
                yield self._at(node.kind, f"{node.kind} is an abstract kind and cannot be used for a node", node.offset)
            if node.kind in _DISTINCT and not node.distinct:
                yield self._at(node.kind, f"a {node.kind} must be distinct", node.offset)
            for name in node.fields if node.kind in _FIELDS else ():
                if name not in _FIELDS[node.kind]:
                    yield self._at(node.kind, f"a {node.kind} has no field '{name[:40]}'", node.offset)
            if node.kind in ("DIExprCode", "DILabel") and self.is_document:
                count = len(self.info.labels.get(node, ()))
                if count != 1:
                    name = self.info.name_of(node)
                    yield self._at(
                        "llvm.dbg.label", f"{name} must be referenced by 1 call of llvm.dbg.label, but is referenced "
                        f"by {count}", node.offset
                    )
            if node.kind == "DIFragment":
                yield from self._fragment(node)

    def _attachments(self) -> Iterator[Finding]:
        for variable in self.info.wrong_attachments:
            yield self._at("global variable", f"the dbg.def of {variable.name} must be a DIFragment", variable.offset)

    def _fragment(self, node: Node) -> Iterator[Finding]:
        owners = self.info.global_fragments.get(node, [])
        name = self.info.name_of(node)
        if len(owners) > 1:
            yield self._at("global variable", f"{name} is the fragment of {len(owners)} global variables", node.offset)
        if owners and self.info.segments_of.get(node):
            yield self._at(
                "global variable", f"{name}, the fragment of {owners[0].name}, cannot be the object of a "
                "lifetime", node.offset
            )
        fields = self.info.properties.get(node, [])
        if len(fields) > 1:
            yield self._at(
                "DICompositeType", f"{name} is used as the property of {len(fields)} fields, but may be used for only "
                "one", node.offset
            )
        for type, field in fields:
            tag = getattr(type.fields.get("tag"), "text", "")
            if tag != "DW_TAG_array_type":
                yield self._at(
                    "DICompositeType", f"'{field}' refers to {name}, but only an array type can have this "
                    "property", type.offset
                )

    # Lifetimes

    def _lifetime(self, segment: Segment, node: Node) -> Iterator[Finding]:
        name = self.info.name_of(node)
        if segment.object is None or segment.object.kind not in OBJECTS:
            yield self._at("DILifetime", f"the object of {name} must be a DIObject", node.offset)
        for index, argument in enumerate(segment.arguments):
            kind = argument.kind if isinstance(argument, Node) else ""
            if kind not in OBJECTS and kind not in CODES:
                yield self._at("DILifetime", f"input {index} of {name} must be a DIObject or a DICode", node.offset)
            if isinstance(argument, Node) and argument in self.info.properties:
                words = f"input {index} of {name} is the fragment of a type property, which cannot be an input"
                yield self._at("DICompositeType", words, node.offset)
        if segment.is_bounded:
            yield from self._bounds(segment, node, name)
        else:
            about = self.info.segments_of.get(segment.object, []) if segment.object is not None else []
            same = [s for s in about if not s.is_bounded and s.node]
            if segment.object is not None and len(same) > 1 and same[0] is segment:
                words = f"{self.info.name_of(segment.object)} has {len(same)} computed lifetime segments"
                yield self._at("DILifetime", words, node.offset, is_note=True)

    def _bounds(self, segment: Segment, node: Node, name: str) -> Iterator[Finding]:
        if len(segment.definitions) != 1:
            words = (
                f"{name} must be referenced by 1 call of llvm.dbg.def, but is referenced by {len(segment.definitions)}"
            )
            yield self._at("bounded lifetime segment", words, node.offset)
            return
        definition = segment.definitions[0]
        flow = self.info.flows[definition.function.name]
        anywhere = flow.reach(definition.index, ()).ranges if segment.kills else ()
        for kill in segment.kills:
            if kill.function is not definition.function or not contains(anywhere, kill.index):
                words = f"this llvm.dbg.kill of {name} is not reachable from its llvm.dbg.def"
                yield self._at("llvm.dbg.kill", words, self._offset(kill))
            elif kill.index not in segment.killed_by:
                words = f"every path to this llvm.dbg.kill of {name} passes through another llvm.dbg.kill of it"
                yield self._at("llvm.dbg.kill", words, self._offset(kill))

    def _record(self, segment: Segment) -> Iterator[Finding]:
        """For today's notation, check the record and the part of the variable that it describes."""
        for reason, offset in broken_record(self.info, segment):
            yield self._at("debug record", reason, offset)
        assert segment.object is not None
        assert segment.location is not None
        size = self.info.type_bits(self.info.module.node(segment.object.fields.get("type")))
        if segment.fragment is not None and size is not None:
            first, bits = segment.fragment
            name = self.info.name_of(segment.object)
            offset = segment.location.operations[-1].offset
            if first + bits > size:
                words = f"bits {first} to {first + bits - 1} are not all within {name}, which has {size} bits"
                yield self._at("fragment", words, offset)
            elif bits == size and not is_diop(segment.location):
                yield self._at("fragment", f"the fragment covers all of {name}, so it is not a fragment", offset)

    def _expression(self, segment: Segment) -> Iterator[Finding]:
        if segment.trouble is not None:
            trouble = segment.trouble
            position = trouble.position or self.module.position(0)
            yield Finding(trouble.rule, f"not translated: {trouble.reason}", position, is_note=True)
            return
        function = segment.function
        if function is not None and not function.pseudo:
            rule = "llvm.dbg.def" if segment.node is not None else "debug record"
            for operand in dict.fromkeys((segment.referrer, *segment.arguments)):
                if isinstance(operand, Operand):
                    yield from self._value(function, operand, rule)
        try:
            tree = self.info.tree(segment)
        except NotWellFormed as error:
            position = error.position or self.module.position(segment.node.offset if segment.node else 0)
            if segment.node is None and segment.location is not None and not is_diop(segment.location):
                yield Finding(error.rule or "DIExpr", f"not translated: {error.reason}", position, is_note=True)
            else:
                yield Finding(error.rule or "DIExpr", error.reason, position)
            return
        same = overlapping(self.info, segment, tree)
        if same is not None:
            offset = next(item.offset for item in tree.flat() if item.name == "DIOpComposite")
            yield self._at("DIOpComposite", f"two parts of the composite share bits of {same}", offset)

    def _value(self, function: Function, operand: Operand, rule: str) -> Iterator[Finding]:
        """Checks that an operand is a value of the function or the module and has its stated type."""
        if operand.kind != "entity" or operand.name[:1] not in ("%", "@"):
            return
        if operand.name.startswith("@"):
            if operand.name not in self.module.globals and operand.name not in self.module.functions:
                yield self._at(rule, f"{operand.name} is not defined", operand.offset)
            return
        types = self._values_of(function)
        if operand.name not in types:
            yield self._at(rule, f"{function.name} has no value {operand.name}", operand.offset)
            return
        type = types[operand.name]
        if operand.type is not None and type is not None and type != operand.type:
            words = f"{operand.name} has type {type}, but is used with type {operand.type}"
            yield self._at(rule, words, operand.offset)

    def _values_of(self, function: Function) -> dict[str, Type | None]:
        """The values of a function, with their types if known."""
        types = self.types.get(function.name)
        if types is None:
            types = {parameter.name: parameter.type for parameter in function.parameters}
            types |= {i.name: i.type for i in self.info.flows[function.name].instructions if i.name}
            self.types[function.name] = types
        return types

    # The graph

    def _graph(self) -> Iterator[Finding]:
        if self.graph.cycle is not None:
            name = self.info.name_of(self.graph.cycle)
            yield self._at("lifetime graph", f"the location of {name} depends on itself", self.graph.cycle.offset)
        for node in self.info.nodes:
            if node.kind in _DISTINCT and node not in self.graph.reached:
                yield self._at("lifetime graph", f"{self.info.name_of(node)} is not used for any variable", node.offset)

    # What has to be retained

    def _retention(self) -> Iterator[Finding]:
        module = self.module
        units = self._items(module.named.get("llvm.dbg.cu"))
        globals_of: set[Node] = set()
        for node in self.info.nodes:
            if node.kind == "DICompileUnit":
                globals_of |= self._items(node.fields.get("globals"))
                if node not in units:
                    yield self._at("DICompileUnit", "the unit is not listed in !llvm.dbg.cu", node.offset)
        for node in list(globals_of):
            if node.kind == "DIGlobalVariableExpression":  # permitted, as in LLVM today
                variable = module.node(node.fields.get("var"))
                globals_of |= {variable} if variable is not None else set()
        for node in self.info.nodes:
            if node.kind == "DIGlobalVariable" and units and node not in globals_of:
                words = f"{self.info.name_of(node)} is not listed in the globals of a DICompileUnit"
                yield self._at("DICompileUnit", words, node.offset)
            elif node.kind in ("DILocalVariable", "DILabel", "DIExprCode"):
                yield from self._retained(node)
        kept = self._items(module.named.get("llvm.dbg.retainedNodes"))
        for segment in self.info.segments:
            if segment.node is not None and not segment.is_bounded and segment.node in self.graph.reached:
                yield from self._computed(segment, segment.node, kept)

    def _items(self, value: object) -> set[Node]:
        found = self.module.resolve(value)  # type: ignore[arg-type]
        known = self.tuples.get(found) if isinstance(found, Node) else None
        if known is None:
            items = self.module.items(found)
            known = {node for node in map(self.module.node, items) if node is not None}
            if isinstance(found, Node):
                self.tuples[found] = known
        return known

    def _retained(self, node: Node) -> Iterator[Finding]:
        owner = self.graph.owner_of(node)
        if owner is None:
            functions = {occurrence.function for occurrence in self.info.labels.get(node, ())}
            owner = self.info.subprogram_of(functions.pop()) if len(functions) == 1 else None
        if owner is not None and node not in self._items(owner.fields.get("retainedNodes")):
            words = f"{self.info.name_of(node)} is not listed in the retainedNodes of its DISubprogram"
            yield self._at("DISubprogram", words, node.offset)

    def _computed(self, segment: Segment, node: Node, kept: set[Node]) -> Iterator[Finding]:
        functions, is_global = self.graph.involved(segment)
        name = self.info.name_of(node)
        if is_global or len(functions) > 1:
            if node not in kept:
                yield self._at("DISubprogram", f"{name} is not listed in !llvm.dbg.retainedNodes", node.offset)
            return
        owner = next(iter(functions), None)
        whole = bool(self._subprograms) or "llvm.dbg.cu" in self.module.named
        if isinstance(owner, Function) or (owner is None and not whole):
            return  # the listing does not have a DISubprogram
        if owner is None:
            if node not in kept and node not in self._retained_by_functions:
                yield self._at(
                    "DISubprogram", f"{name} is listed in neither !llvm.dbg.retainedNodes nor the retainedNodes of a "
                    "DISubprogram", node.offset
                )
        elif node not in self._items(owner.fields.get("retainedNodes")):
            words = f"{name} is not listed in the retainedNodes of its DISubprogram"
            yield self._at("DISubprogram", words, node.offset)

    @cached_property
    def _subprograms(self) -> list[Node]:
        return [node for node in self.info.nodes if node.kind == "DISubprogram"]

    @cached_property
    def _retained_by_functions(self) -> set[Node]:
        found: set[Node] = set()
        for subprogram in self._subprograms:
            found |= self._items(subprogram.fields.get("retainedNodes"))
        return found
