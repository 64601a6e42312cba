"""The reachable lifetime graph: the lifetimes, fragments and code locations reachable from variables.

Its roots are variables, the type property fragments of composite types and, though the specification does not list it,
the fragments that fields of a `DISubprogram` name (`activeLanePC` in the lane PC listing).
"""

from __future__ import annotations

from collections.abc import Iterator

from rocdbg.llvmdi.module import Function, Node
from rocdbg.llvmdi.module_debug_info import DebugInfo
from rocdbg.llvmdi.segments import VARIABLES, Segment

__all__ = ["LifetimeGraph"]

_ENOUGH = 2


class LifetimeGraph:
    """Edges from objects to their segments, and from segments to the objects and code locations that are their inputs.
    """

    def __init__(self, info: DebugInfo) -> None:
        self.info = info
        self.roots: list[Node] = [node for node in info.nodes if node.kind in VARIABLES]
        self.roots += info.properties
        for node in info.nodes:
            if node.kind == "DISubprogram":
                found = (info.module.node(value, "DIFragment") for value in node.fields.values())
                self.roots += [fragment for fragment in found if fragment is not None]
        self._involved: dict[Node, tuple[frozenset[Function | Node], bool]] = {}
        self.reached: set[Node] = set()
        """Objects, code locations and `DILifetime` nodes."""
        self.cycle: Node | None = None
        """An object on a cycle, if there is one."""
        self._walk()

    def inputs(self, node: Node) -> Iterator[tuple[Segment, Node]]:
        """The objects and code locations that are inputs of an object's segments."""
        for segment in self.info.segments_of.get(node, ()):
            for argument in segment.arguments:
                if isinstance(argument, Node):
                    yield segment, argument

    def _walk(self) -> None:
        on_path: set[Node] = set()
        for root in self.roots:
            if root in self.reached:
                continue
            path: list[tuple[Node, Iterator[tuple[Segment, Node]]]] = []
            self._enter(root, on_path, path)
            while path:
                node, following = path[-1]
                step = next(following, None)
                if step is None:
                    path.pop()
                    on_path.discard(node)
                elif step[1] in on_path:
                    self.cycle = self.cycle or step[1]
                elif step[1] not in self.reached:
                    self._enter(step[1], on_path, path)

    def _enter(
        self, node: Node, on_path: set[Node], path: list[tuple[Node, Iterator[tuple[Segment, Node]]]]
    ) -> None:
        self.reached.add(node)
        for segment in self.info.segments_of.get(node, ()):
            if segment.node is not None:
                self.reached.add(segment.node)
        on_path.add(node)
        path.append((node, self.inputs(node)))

    def involved(self, segment: Segment) -> tuple[set[Function | Node], bool]:
        """What a computed segment involves: functions (or their DISubprograms), and whether it involves anything
        global.

        The object itself counts only if it is a local variable, because according to the specification, the entities
        that a segment uses determine whether the segment has to be retained.
        """
        functions: set[Function | Node] = set()
        is_global = False
        if segment.object is not None and segment.object.kind == "DILocalVariable":
            self._local(segment.object, functions)
        for argument in segment.arguments:
            if isinstance(argument, Node):
                below, has_global = self._below(argument)
                functions |= below
                is_global |= has_global
        return functions, is_global

    def _below(self, start: Node) -> tuple[frozenset[Function | Node], bool]:
        """What an object and everything it consists of involve. If there are many functions, only some are returned:
        two are enough to decide.
        """
        path = [(start, iter(self.inputs(start)))] if start not in self._involved else []
        entered = {start}
        while path:
            node, following = path[-1]
            step = next(following, None)
            if step is not None:
                if step[1] not in self._involved and step[1] not in entered:
                    entered.add(step[1])
                    path.append((step[1], iter(self.inputs(step[1]))))
                continue
            path.pop()
            functions, is_global = self._own(node)
            for _, argument in self.inputs(node):
                below, has_global = self._involved.get(argument, (frozenset(), False))
                is_global |= has_global
                if len(functions) < _ENOUGH:
                    functions |= below
            self._involved[node] = frozenset(functions), is_global
        return self._involved[start]

    def _own(self, node: Node) -> tuple[set[Function | Node], bool]:
        """What an object itself involves."""
        functions: set[Function | Node] = set()
        if node.kind in ("DILocalVariable", "DILabel"):
            self._local(node, functions)
        functions.update(self._owner(occurrence.function) for occurrence in self.info.labels.get(node, ()))
        for own in self.info.segments_of.get(node, ()):
            if own.is_bounded and own.function is not None:
                functions.add(self._owner(own.function))
        return functions, node.kind == "DIGlobalVariable" or node in self.info.global_fragments

    def _owner(self, function: Function) -> Function | Node:
        return self.info.subprogram_of(function) or function

    def _local(self, node: Node, functions: set[Function | Node]) -> None:
        owner = self.owner_of(node)
        if owner is not None:
            functions.add(owner)

    def owner_of(self, node: Node) -> Node | None:
        """The DISubprogram to whose scope a variable, label or block belongs; None if that is not stated."""
        scope = self.info.module.node(node.fields.get("scope"))
        for _ in range(1000):
            if scope is None or scope.kind == "DISubprogram":
                return scope
            scope = self.info.module.node(scope.fields.get("scope"))
        return None
