"""Random sessions for a program: commands from templates, filled with names from its source.

Names and expressions are mostly those of the function in which the session's breakpoint is, so that many have values.
"""

from __future__ import annotations

import random
import re
from dataclasses import dataclass, field
from pathlib import Path

from tests.gdb.build import HERE
from tests.gdb.session_files import Command, Session

TEMPLATES = HERE / "templates.txt"
IDENTIFIER = r"[A-Za-z_]\w*"
CHAIN = re.compile(rf"{IDENTIFIER}(?:(?:\.|->){IDENTIFIER}|\[[^\[\];]{{1,12}}\])*")
FUNCTION = re.compile(
    rf"(?m)^[^\n#/]*?\b((?:{IDENTIFIER}::)*(?:operator\S+|{IDENTIFIER}))\(([^;{{}}]*)\)(?: const)?\s*\{{"
)
TYPE = re.compile(rf"\b(?:struct|class|union|enum(?: class)?)\s+({IDENTIFIER})\s*[:{{]")
TYPEDEF = re.compile(rf"typedef [^;{{}}]*?\b({IDENTIFIER});|using ({IDENTIFIER}) =")
RIGHT_HAND = re.compile(r"[^=!<>]=\s*([^=;{}\n]+);")
KEYWORDS = frozenset(
    word
    for line in (
        "if else for while do switch case default return break continue goto sizeof struct class union enum typedef",
        "const int char short long float double void unsigned signed bool volatile inline extern template typename",
        "private public protected namespace using operator this new delete __global__ __device__ __attribute__ static",
        "kernel global local constant __kernel __global virtual override auto constexpr include define noinline",
    )
    for word in line.split()
)
INTEGER_TYPES = [
    "int",
    "unsigned",
    "char",
    "unsigned char",
    "short",
    "long",
    "unsigned long",
    "float",
    "double",
    "int *",
]
FORMATS = "xduotacfzsi"
UNARY = ["&{}", "*{}", "-{}", "!{}", "~{}", "sizeof({})", "({})", "+{}", "&*{}", "*&{}", "{}@2", "{}[0]", "sizeof {}"]
BINARY = ["+", "-", "*", "/", "%", "==", "!=", "<", ">=", "&&", "||", "&", "|", "^", "<<", ">>", ","]
NUMBERS = [
    "0",
    "1",
    "2",
    "3",
    "7",
    "-1",
    "10",
    "0x1f",
    "'a'",
    "1.5",
    "2.5f",
    "100000",
    "4294967295",
    "1u",
    "3ul",
    "0777",
]


@dataclass
class Names:
    """The names in a source for filling templates; ``chains`` and ``right`` by function, those outside functions under
    ''.
    """

    lines: int
    file: str
    functions: list[str]
    types: list[str]
    chains: dict[str, list[str]] = field(default_factory=dict)
    right: dict[str, list[str]] = field(default_factory=dict)
    bodies: dict[str, tuple[int, int]] = field(default_factory=dict)


def names_of(path: Path) -> Names:
    """Read a source's text."""
    text = re.sub(r"//[^\n]*|\"(?:[^\"\\\n]|\\.)*\"", "", path.read_text(encoding="utf-8"))
    spans = {
        found[1]: (found.start(), _end(text, found.end()))
        for found in FUNCTION.finditer(text)
        if found[1] not in KEYWORDS
    }
    types = [*TYPE.findall(text), *(first or second for first, second in TYPEDEF.findall(text))]
    names = Names(text.count("\n") + 1, path.name, list(spans), types)
    outside = text
    for name, (start, end) in spans.items():
        body = text[start:end]
        outside = outside.replace(body, "")
        names.chains[name] = _chains(body)
        names.right[name] = [each.strip() for each in RIGHT_HAND.findall(body)]
        names.bodies[name] = text.count("\n", 0, start) + 1, text.count("\n", 0, end) + 1
    names.chains[""] = [each for each in _chains(outside) if each not in types] or ["nothing"]
    return names


def _end(text: str, start: int) -> int:
    depth = 1
    for index in range(start, len(text)):
        depth += {"{": 1, "}": -1}.get(text[index], 0)
        if not depth:
            return index + 1
    return len(text)


def _chains(text: str) -> list[str]:
    return sorted({each for each in CHAIN.findall(text) if each.split("[")[0] not in KEYWORDS})


class Generator:
    """Commands drawn at random for one program."""

    def __init__(self, names: Names, rng: random.Random, forms: dict[str, list[str]]) -> None:
        self.names, self.rng = names, rng
        self.function = ""
        self.templates = forms

    def pick(self, items: list[str], otherwise: str = "nothing") -> str:
        """A random choice."""
        return self.rng.choice(items) if items else otherwise

    def name(self) -> str:
        """A variable, mostly one in scope."""
        where = self.function if self.rng.random() < 0.85 else self.pick(["", *self.names.functions])
        return self.pick(self.names.chains.get(where) or self.names.chains[""])

    def type(self) -> str:
        """A type's name."""
        base = self.pick([*self.names.types, *INTEGER_TYPES])
        if self.rng.random() < 0.15:
            base = self.pick(["struct ", "enum ", "union ", "class "]) + base
        return base + self.pick(["", "", "", "*", " *", "&", " **", "[3]"])

    def expression(self, depth: int = 2) -> str:
        """An expression."""
        choice = self.rng.random()
        if depth == 0 or choice < 0.35:
            return self.name()
        if choice < 0.45:
            return self.pick(NUMBERS)
        if choice < 0.60:
            return self.pick(UNARY).format(self.expression(depth - 1))
        if choice < 0.80:
            return f"{self.expression(depth - 1)} {self.pick(BINARY)} {self.expression(depth - 1)}"
        if choice < 0.86:
            return f"({self.type()}){self.expression(depth - 1)}"
        if choice < 0.92 and self.names.right.get(self.function):
            return self.pick(self.names.right[self.function])
        if choice < 0.94:
            return f"{self.expression(depth - 1)} ? {self.name()} : {self.name()}"
        if choice < 0.96:
            return f"{self.pick(self.names.functions)}({', '.join(self.name() for _ in range(self.rng.randint(0, 3)))})"
        if choice < 0.98:
            return self.pick(["$", "$$", "$1", "$$2", "$_", "$__", "$_exitcode", "$nosuch", "$bpnum", "$conv"])
        return f"{{{self.type()}}} {self.expression(depth - 1)}"

    def format(self) -> str:
        """``/FMT``, or nothing."""
        if self.rng.random() < 0.4:
            return ""
        return (
            "/"
            + self.pick(["", "", "", "2", "3", "r"])
            + self.pick(list(FORMATS))
            + self.pick(["", "", "", "b", "h", "w", "g"])
        )

    def location(self) -> str:
        """A location."""
        line = str(self.rng.randint(1, self.names.lines + 2))
        inside = self.names.bodies.get(self.function, (1, 2))
        near = str(self.rng.randint(*inside))
        return self.pick(
            [
                line, near, near, f"{self.names.file}:{near}", *self.names.functions[:20], "+1", "-2", "+3", "",
                f"{self.names.file}:{self.pick(self.names.functions)}", f"*{self.pick(self.names.functions)}", "nosuch",
                f"nosuch.c:{line}", f"-line {near}",
                f"-function {self.pick(self.names.functions)}", f"-source {self.names.file} -line {near}",
            ]
        )  # fmt: skip

    def command(self) -> list[str]:
        """A command, with its block's lines."""
        form = self.pick(self.templates["running" if self.rng.random() < 0.12 else ""])
        return [part for part in self._filled(form).split("\n") if part]

    def _filled(self, form: str) -> str:
        makers = {
            "E": self.expression, "N": self.name, "T": self.type, "/F": self.format, "L": self.location,
            "FN": lambda: self.pick(self.names.functions), "I": lambda: str(self.rng.randint(0, 6)),
            "LINE": lambda: str(self.rng.randint(1, self.names.lines + 2)), "FILE": lambda: self.names.file,
            "NUM": lambda: self.pick(NUMBERS), "SET": lambda: self.pick(self.templates["settings"]),
            "WORD": lambda: self.pick([*self.names.functions, *self.names.types, self.name()]),
        }  # fmt: skip
        return re.sub(r"<(/?[A-Z]+)>", lambda found: makers[found[1]](), form)


def templates(path: Path = TEMPLATES) -> dict[str, list[str]]:
    """The templates of a file by section: '' (of all kinds), 'running', 'settings'."""
    found: dict[str, list[str]] = {"": []}
    section = ""
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("%"):
            section = line[1:]
            found[section] = []
        elif line.startswith(">"):
            found[section][-1] += "\n" + line[1:]
        elif line and not line.startswith("# "):
            found[section].append(line)
    return found


def random_session(
    names: Names, program: str, rng: random.Random, length: int, forms: dict[str, list[str]]
) -> Session:
    """A random session: a breakpoint late in a function, `run`, and commands of the ``forms``."""
    generator = Generator(names, rng, forms)
    generator.function = rng.choice(names.functions or [""])
    first, last = names.bodies.get(generator.function, (1, 1))
    commands = [Command("", [f"break {rng.randint((first + last) // 2, last)}"]), Command("", ["run"])]
    commands += [Command("", generator.command()) for _ in range(length)]
    for each in commands:
        if len(each.lines) > 1 and each.lines[0] == "up":
            each.lines = each.lines[1:]
    return Session(program, commands)
