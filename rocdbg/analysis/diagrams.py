"""Decision diagrams: functions of bits whose results are numbers. Each function is stored once, so that equal functions
have the same diagram.

A diagram is identified by a number. It is a leaf or a node that tests one bit. The bits are those that mask registers
hold for one lane; the results say where the lane continues (`rocdbg.analysis.lane_positions`), or are 0 and 1 for
functions whose result is a bit.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from typing import Final, TypeAlias

from rocdbg.errors import Error

Bits: TypeAlias = tuple[int, int]
"""A bit that need not be known, as two functions of bits: the first is 1 where the bit must be 1, the second where the
bit may be 1. Where only the second is 1, the bit may have either value.
"""

_MOST_NODES: Final = 400_000


class TooLargeError(Error):
    """The diagrams of a function have grown too large to be computed in reasonable time."""


class Diagrams:
    """A store of diagrams. They test the variables with the largest ``weight`` first, and among variables of equal
    weight the one that was named last.

    This order keeps diagrams small, as chains of nodes: when code is followed backwards, the masks of inner regions are
    named after those of the enclosing regions, and a lane that waits in an inner region continues there regardless of
    what the outer masks contain.

    ``join`` returns the leaf for what is known if either of two leaves applies; it must be commutative, associative and
    idempotent.
    """

    def __init__(self, join: Callable[[int, int], int], weight: Callable[[Hashable], int]) -> None:
        self._join_leaves = join
        self._weight = weight
        self._variables: dict[Hashable, int] = {}
        self.names: dict[int, Hashable] = {}
        # leaf: (-1, value, 0)
        self._content: list[tuple[int, int, int]] = []
        self._numbers: dict[tuple[int, int, int], int] = {}
        self._supports: dict[int, frozenset[int]] = {}
        self._joins: dict[tuple[int, int], int] = {}
        self._choices: dict[tuple[int, int, int], int] = {}
        self._substitutions: dict[tuple[tuple[int, Bits], ...], dict[int, int]] = {}
        self.false = self.leaf(0)
        self.true = self.leaf(1)

    def variable(self, name: Hashable) -> int:
        """The number of the variable with this name, which is added if it is new."""
        number = self._variables.get(name)
        if number is None:
            number = self._variables[name] = self._weight(name) << 32 | len(self.names)
            self.names[number] = name
        return number

    def known_variable(self, name: Hashable) -> int | None:
        """The number of a variable that has been named before."""
        return self._variables.get(name)

    @property
    def count(self) -> int:
        """How many nodes and leaves have been made so far."""
        return len(self._content)

    def leaf(self, value: int) -> int:
        """The diagram of a constant number."""
        return self._unique((-1, value, 0))

    def bit(self, variable: int) -> int:
        """The diagram that is 1 where the bit ``variable`` is 1."""
        return self._node(variable, self.false, self.true)

    def content(self, diagram: int) -> tuple[int, int, int]:
        """(-1, value, 0) of a leaf, else (variable, diagram for 0, diagram for 1)."""
        return self._content[diagram]

    def _node(self, variable: int, low: int, high: int) -> int:
        return low if low == high else self._unique((variable, low, high))

    def _unique(self, key: tuple[int, int, int]) -> int:
        number = self._numbers.get(key)
        if number is None:
            number = self._numbers[key] = len(self._content)
            self._content.append(key)
            if number > _MOST_NODES:
                raise TooLargeError("the control flow is too complex")
        return number

    def support(self, diagram: int) -> frozenset[int]:
        """The variables that a diagram tests."""
        found = self._supports.get(diagram)
        if found is None:
            variable, low, high = self._content[diagram]
            if variable < 0:
                found = frozenset()
            else:
                found = self.support(low) | self.support(high) | {variable}
            self._supports[diagram] = found
        return found

    def leaves(self, diagram: int) -> set[int]:
        """The values that a diagram may have."""
        seen: set[int] = set()
        values: set[int] = set()
        todo = [diagram]
        while todo:
            number = todo.pop()
            if number in seen:
                continue
            seen.add(number)
            variable, low, high = self._content[number]
            if variable < 0:
                values.add(low)
            else:
                todo += (low, high)
        return values

    def coarsened(self, diagram: int, most: int) -> int:
        """Return the diagram; if it has more than ``most`` nodes, return a less precise one, in which some variables
        count as unknown.

        The variables that are tested last, which belong to the outermost regions, are given up first.
        """
        tests = self._tests(diagram)
        while sum(tests.values()) > most:
            excess = sum(tests.values()) - most
            lost: dict[int, Bits] = {}
            for variable in sorted(tests):
                lost[variable] = self.false, self.true
                excess -= tests[variable]
                if excess <= 0:
                    break
            diagram = self.substitute(diagram, lost)
            tests = self._tests(diagram)
        return diagram

    def _tests(self, diagram: int) -> dict[int, int]:
        """How many nodes of a diagram test each variable."""
        found: dict[int, int] = {}
        seen = {diagram}
        todo = [diagram]
        while todo:
            variable, low, high = self._content[todo.pop()]
            if variable >= 0:
                found[variable] = found.get(variable, 0) + 1
                for child in (low, high):
                    if child not in seen:
                        seen.add(child)
                        todo.append(child)
        return found

    def join(self, one: int, other: int) -> int:
        """The diagram of what is known if either of two diagrams applies."""
        if one == other:
            return one
        key = (one, other) if one < other else (other, one)
        found = self._joins.get(key)
        if found is not None:
            return found
        variable, low, high = self._content[one]
        variable2, low2, high2 = self._content[other]
        if variable < 0 and variable2 < 0:
            found = self.leaf(self._join_leaves(low, low2))
        elif variable == variable2:
            found = self._node(variable, self.join(low, low2), self.join(high, high2))
        elif variable > variable2:
            found = self._node(variable, self.join(low, other), self.join(high, other))
        else:
            found = self._node(variable2, self.join(one, low2), self.join(one, high2))
        self._joins[key] = found
        return found

    def choose(self, condition: int, yes: int, no: int) -> int:
        """The diagram that equals ``yes`` where the condition (a function whose result is a bit) is 1, and ``no``
        elsewhere.
        """
        if condition == self.true or yes == no:
            return yes
        if condition == self.false:
            return no
        key = (condition, yes, no)
        found = self._choices.get(key)
        if found is not None:
            return found
        contents = self._content
        variable = max(contents[number][0] for number in key)
        lows, highs = [], []
        for number in key:
            tested, low, high = contents[number]
            lows.append(low if tested == variable else number)
            highs.append(high if tested == variable else number)
        found = self._node(variable, self.choose(*lows), self.choose(*highs))
        self._choices[key] = found
        return found

    def substitute(self, diagram: int, values: Mapping[int, Bits]) -> int:
        """Express a diagram in terms of the state before variables were assigned ``values``."""
        done = self._substitutions.setdefault(tuple(sorted(values.items())), {})
        changed = values.keys()

        def walk(number: int) -> int:
            found = done.get(number)
            if found is not None:
                return found
            variable, low, high = self._content[number]
            if variable < 0 or changed.isdisjoint(self.support(number)):
                return number
            low, high = walk(low), walk(high)
            value = values.get(variable)
            if value is None:
                found = self.choose(self.bit(variable), high, low)
            else:
                sure, possible = value
                found = self.choose(possible, self.join(low, high), low) if sure != possible else low
                found = self.choose(sure, high, found)
            done[number] = found
            return found

        return walk(diagram)
