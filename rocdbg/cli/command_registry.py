"""How commands are declared, and how a typed line finds its command.

A command is a function decorated with `command`, which attaches a `CommandSpec` but registers nothing. A `Registry`
belongs to one shell, and collects specs from modules and plug-ins. `help`, abbreviations, completion and the manual are
all derived from its contents.

Our own commands also declare their arguments (`rocdbg.cli.arguments`), which their functions receive parsed.
"""

from __future__ import annotations

import enum
import inspect
import re
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar, overload

from msgspec import Struct, field
from msgspec.structs import replace

from rocdbg.cli.gdb_commands import OTHER_NAMES, OWN_SETTINGS, gdb_names
from rocdbg.errors import Error

if TYPE_CHECKING:
    from rocdbg.cli.arguments import Arguments
    from rocdbg.cli.settings.setting_declaration import Setting
    from rocdbg.cli.shell import Shell

Handler = Callable[[Any, str], None]
"""Receives the `Shell` (in plug-ins a `PluginShell`) and the text after the command's name."""
Precondition = Callable[["Shell"], None]
F = TypeVar("F", bound=Callable[..., None])


class CommandError(Error):
    """A line does not name exactly one command, or names a command that is not available yet."""


class Category(enum.Enum):
    """The classes that `help` lists, under GDB's names."""

    BREAKPOINTS = "breakpoints"
    DATA = "data"
    FILES = "files"
    OBSCURE = "obscure"
    RUNNING = "running"
    STACK = "stack"
    STATUS = "status"
    SUPPORT = "support"
    USER = "user-defined"
    INTERNALS = "internals"
    ALIASES = "aliases"
    TUI = "text-user-interface"
    TRACEPOINTS = "tracepoints"


CATEGORY_TEXT = {
    Category.BREAKPOINTS: "Making program stop at certain points.",
    Category.DATA: "Examining data.",
    Category.FILES: "Specifying and examining files.",
    Category.OBSCURE: "Obscure features.",
    Category.RUNNING: "Running the program.",
    Category.STACK: "Examining the stack.",
    Category.STATUS: "Status inquiries.",
    Category.SUPPORT: "Support facilities.",
    Category.USER: "User-defined commands.",
    Category.INTERNALS: "Maintenance commands.",
    Category.ALIASES: "User-defined aliases of other commands.",
    Category.TUI: "TUI is the rocdbg text based interface.",
    Category.TRACEPOINTS: "Tracing of program execution without stopping the program.",
}


class Completes(enum.Enum):
    """What completion offers after the command word."""

    NOTHING = "nothing"
    EXPRESSION = "expression"
    CODE = "code"  # where the program can stop
    LOCATION = "location"  # any place in the source
    SYMBOL = "symbol"
    TYPE = "type"
    REGISTER = "register"
    FILE = "file"
    COMMAND = "command"
    MEANING = "meaning"  # a command after `=`
    SETTING = "setting"  # and a command after `--`
    HELP = "help"  # commands and their classes
    SIGNAL = "signal"
    HANDLING = "handling"  # signals, and how they are handled
    KERNEL = "kernel"
    PLUGIN = "plugin"
    BREAKPOINT = "breakpoint"
    THREAD = "thread"
    LANE = "lane"


class Repeat(enum.Enum):
    """What an empty line after the command does, as in GDB."""

    SAME = "same"  # the whole line again
    BARE = "bare"  # the command again without its arguments (`x`, `list`)
    NEVER = "never"


class CommandSpec(Struct, frozen=True):
    """One command as declared. ``words`` is its full name (``("info", "lanes")``).

    ``arguments`` is `None` for a command that parses its text by itself, as those of plug-ins do.
    """

    words: tuple[str, ...]
    handler: Handler
    category: Category
    help: str
    aliases: tuple[tuple[str, ...], ...] = ()
    usage: str = ""
    options: tuple[str, ...] = ()
    completes: Completes = Completes.NOTHING
    repeat: Repeat = Repeat.SAME
    arguments: Arguments | None = None
    hidden: bool = False
    """Whether lists of commands and completion omit it."""
    keeps_blanks: bool = False
    """Whether blanks at the end of the line belong to its arguments."""
    setting: Setting | None = None
    """The setting that it changes or shows."""

    @property
    def is_setting(self) -> bool:
        """Whether it changes or shows a setting."""
        return self.setting is not None

    @property
    def name(self) -> str:
        """The full name, words joined by spaces."""
        return " ".join(self.words)

    @property
    def summary(self) -> str:
        """The first line of the help text."""
        return self.help.split("\n", 1)[0]


@overload
def command(
    name: str,
    *,
    category: Category,
    aliases: tuple[str, ...] = (),
    usage: str = "",
    options: tuple[str, ...] = (),
    completes: Completes = Completes.NOTHING,
    repeat: Repeat = Repeat.SAME,
    keeps_blanks: bool = False,
) -> Callable[[Handler], Handler]: ...
@overload
def command(
    name: str,
    *,
    category: Category,
    args: Arguments,
    aliases: tuple[str, ...] = (),
    usage: str = "",
    repeat: Repeat = Repeat.SAME,
    needs: Precondition | None = None,
    keeps_blanks: bool = False,
    hidden: bool = False,
) -> Callable[[F], F]: ...
def command(
    name: str,
    *,
    category: Category,
    aliases: tuple[str, ...] = (),
    usage: str = "",
    options: tuple[str, ...] = (),
    completes: Completes = Completes.NOTHING,
    repeat: Repeat = Repeat.SAME,
    args: Arguments | None = None,
    needs: Precondition | None = None,
    keeps_blanks: bool = False,
    hidden: bool = False,
) -> Callable[[F], F]:
    """Declare a command; the function's docstring is its help text, and the first line of that is the summary.

    ``name`` and ``aliases`` are full names (``"info lanes"``). ``hidden``: lists of commands omit it.

    With ``args``, the function receives the shell and its arguments by name, after ``needs`` was checked; usage and
    completion are derived from the declaration. Without ``args``, the function receives the shell and the text after
    the name; ``usage`` is the line that help shows, and ``options`` are the words starting with ``-`` that completion
    offers.
    """

    def attach(function: F) -> F:
        spec = CommandSpec(
            words=tuple(name.split()),
            handler=function if args is None else _parsing(function, args, needs),
            category=category,
            help=inspect.cleandoc(function.__doc__ or ""),
            aliases=tuple(tuple(alias.split()) for alias in aliases),
            usage=usage or (name if args is None else args.usage(name)),
            options=options if args is None else tuple(option.name for option in args.options),
            completes=completes if args is None else args.completes,
            repeat=repeat,
            arguments=args,
            keeps_blanks=keeps_blanks,
            hidden=hidden,
        )
        function.command_spec = spec  # type: ignore[attr-defined]
        return function

    return attach


def _parsing(function: Callable[..., None], arguments: Arguments, needs: Precondition | None) -> Handler:
    """Return a handler that parses its text and calls a function with the arguments."""

    def handler(shell: Shell, text: str) -> None:
        if needs is not None:
            needs(shell)
        function(shell, **arguments.parse(shell, text))

    return handler


class Node(Struct):
    """A word of a command's name: the command that ends with it, if any, and the words that may follow it."""

    spec: CommandSpec | None = None
    is_alias: bool = False
    is_topic: bool = False
    """Whether it is a topic of `help` and not a command."""
    own_name: tuple[str, ...] = ()
    """For an alias: the command's full name."""
    is_own: bool = False
    """Whether GDB has no command of that name."""
    children: dict[str, Node] = field(default_factory=dict)

    def match(self, word: str) -> tuple[str, Node] | list[str]:
        """Return the child that ``word`` names, in full or abbreviated; otherwise the names that it could abbreviate.

        As in GDB, any two possible names make an abbreviation ambiguous. But GDB's names take precedence over ours, and
        a help topic is not a command.
        """
        exact = self.children.get(word)
        if exact is not None:
            return word, exact
        found = {name: node for name, node in self.children.items() if name.startswith(word)}
        known = {name: node for name, node in found.items() if not node.is_own} or found
        commands = {name: node for name, node in known.items() if not node.is_topic}
        if len(commands) == 1:
            return next(iter(commands.items()))
        return sorted(known) if commands else []


WORD = re.compile(r"[A-Za-z0-9_.-]+")
SCROLLS = re.compile(r"[+<>](?!\S)")
"""Matches commands of the full screen's windows that are not words."""
WRONG_WORD = re.compile(r"[A-Za-z0-9_.+<>$-]+")
"""Matches the text that an error quotes if no command can begin with it."""


class Resolved(Struct, frozen=True):
    """A parsed line: the command, and the text after its name without leading blanks."""

    spec: CommandSpec
    text: str


Saved = dict[tuple[str, ...], Node | None]
"""The commands that some names had before; ``None`` if there was none."""


MAX_FOUND = 1024
MAX_FOUND_LINE = 1024
MAX_CANDIDATES = 100
"""The maximum number of characters in the list of candidates of an ambiguous name, as in GDB."""


def _first_few(names: list[str]) -> str:
    """Join names by commas, and cut the list where GDB cuts it."""
    shown = ""
    for name in names:
        if len(shown) + len(name) + 6 >= MAX_CANDIDATES:
            return shown + ".."
        shown += f", {name}" if shown else name
    return shown


class Registry:
    """The commands of one shell."""

    def __init__(self) -> None:
        self.root = Node()
        self.user: set[str] = set()
        """Full names of user-defined commands."""
        self.user_prefixes: set[str] = set()
        self.hooks: set[str] = set()
        """Full names of hooks."""
        self.alias_help: dict[tuple[str, ...], str] = {}
        """The documentation that `document` gave to aliases."""
        self._found: dict[str, Resolved] = {}  # a cache: lines in loops are resolved again and again
        self.defaults: dict[tuple[str, ...], str] = {}
        """Default arguments, by the name of the alias that has them."""
        self.abbreviations: set[tuple[str, ...]] = set()
        """Aliases that lists omit (``alias -a``)."""
        self._aliases: dict[tuple[str, ...], list[tuple[str, ...]]] = {}
        self._late: list[tuple[tuple[str, ...], Callable[[], None]]] = []
        self.prefix_command: Callable[[list[str], Node], CommandSpec] | None = None

    def add_late(self, prefixes: tuple[str, ...], add: Callable[[], None]) -> None:
        """Add commands below ``prefixes`` only when one of the prefixes is needed: most sessions need none of them."""
        self._late.append((prefixes, add))

    def is_late(self, prefix: str) -> bool:
        """Whether commands below a prefix are still to be added on demand."""
        return any(prefix in prefixes for prefixes, _ in self._late)

    def complete(self) -> None:
        """Add all commands that are added on demand."""
        self._need(None)

    def need(self, prefix: str) -> None:
        """Add the commands below a prefix that are added on demand."""
        self._need(prefix)

    def _need(self, prefix: str | None) -> None:
        """Add the commands below a prefix that are added on demand; ``None`` for all prefixes."""
        wanted = [late for late in self._late if prefix is None or prefix in late[0]]
        if wanted:
            self._late = [late for late in self._late if late not in wanted]
            for _, add in wanted:
                add()

    def changed(self) -> None:
        """Drop cached results, because a command was added, replaced or removed."""
        self._found.clear()

    def add(self, spec: CommandSpec) -> None:
        """Add a command, or replace the one of the same name; aliases lead to it."""
        self.changed()
        node = self._place(spec.words)
        if node.is_alias:  # replace the alias, but leave the command that it represents alone
            self._place(spec.words[:-1]).children[spec.words[-1]] = node = Node()
        node.spec = spec
        if spec.category is Category.USER:
            node.is_own = False
        others = (*spec.aliases, *(tuple(other.split()) for other in OTHER_NAMES.get(spec.name, ())))
        for alias in others:
            node = self._place(alias)
            node.spec = spec
            node.is_alias = True
            node.own_name = spec.words
        target = self._place(spec.words)
        for alias in others:
            # an alias of a prefix command is a prefix too (`i lanes`)
            if len(alias) == len(spec.words):
                self._place(alias).children = target.children

    def has(self, name: str) -> bool:
        """Whether a full name (of one or more words) is taken."""
        node = self.root
        for index, word in enumerate(name.split()):
            if word not in node.children:
                return False
            if not index:
                self._need(word)
            node = node.children[word]
        return True

    @staticmethod
    def _is_own(words: tuple[str, ...]) -> bool:
        """Whether rocdbg has this name and GDB does not."""
        if words[0] in ("set", "show", "maintenance", "maint", "unset"):
            return len(words) > 1 and words[1] in OWN_SETTINGS
        return " ".join(words) not in gdb_names()

    def has_spec(self, name: str) -> bool:
        """Whether a full name is that of a command, and not only the beginning of others."""
        if not self.has(name):
            return False
        return self._place(tuple(name.split())).spec is not None

    def user_aliases(self) -> list[tuple[tuple[str, ...], Node]]:
        """Return the aliases defined by `alias`, with their expansions."""
        return [(words, self._place(words)) for words in self.defaults if words not in self.abbreviations]

    def default_lines(self, words: tuple[str, ...]) -> list[str]:
        """Return the lines of help on a command's aliases that have default arguments."""
        mine = reversed(self._aliases.get(words, []))
        return [
            f"  alias {' '.join(alias)} = {' '.join(words)} {self.defaults[alias]}"
            for alias in mine if self.defaults.get(alias)
        ]

    def aliases(self, words: tuple[str, ...]) -> list[tuple[str, ...]]:
        """Return the other names of a command, the newest first."""
        node = self._place(words)
        declared = list(node.spec.aliases) if node.spec is not None and node.spec.words == words else []
        if " ".join(words) in gdb_names():  # help omits names that GDB does not have: they are abbreviations
            declared = [tuple(other.split()) for other in OTHER_NAMES.get(" ".join(words), ())]
        return [*reversed(self._aliases.get(words, [])), *declared]

    def add_alias(
        self, words: tuple[str, ...], target: Node, of: tuple[str, ...] = (), listed: bool = True
    ) -> None:
        """Give a command another name; ``of`` is the command's own name, if help should mention the alias.

        An alias that is not ``listed`` is not completed either.
        """
        self.changed()
        node = self._place(words)
        node.spec, node.is_alias, node.children = target.spec, True, target.children
        node.own_name = of or (target.spec.words if target.spec is not None else ())
        if of and " ".join(words) not in OTHER_NAMES.get(" ".join(of), ()):
            self._aliases.setdefault(of, []).append(words)

    def add_module(self, module: ModuleType) -> None:
        """Add every command that a module declares."""
        for value in list(vars(module).values()):
            spec = getattr(value, "command_spec", None)
            if isinstance(spec, CommandSpec) and getattr(value, "__module__", "") == module.__name__:
                self.add(spec)

    def saved(self, spec: CommandSpec) -> Saved:
        """Return the commands that currently have the names of a command, for `restore`."""
        return {words: self._copy(words) for words in (spec.words, *spec.aliases)}

    def restore(self, saved: Saved) -> None:
        """Restore the commands that some names had before; used when a plug-in is unloaded."""
        self.changed()
        for words, node in saved.items():
            siblings = self._place(words[:-1]).children
            if node is None:
                siblings.pop(words[-1], None)
            else:
                siblings[words[-1]] = node

    def _copy(self, words: tuple[str, ...]) -> Node | None:
        return replace(self._place(words)) if self.has(" ".join(words)) else None

    def _place(self, words: tuple[str, ...]) -> Node:
        node = self.root
        for index, word in enumerate(words, 1):
            child = node.children.get(word)
            if child is None:
                child = node.children[word] = Node(is_own=self._is_own(words[:index]))
            node = child
        return node

    def find(self, line: str) -> Resolved:
        """Return the command that a line names. Raises `CommandError` in GDB's words."""
        found = self._found.get(line)
        if found is None:
            found = self._find(line)
            if len(self._found) >= MAX_FOUND:
                self._found.clear()
            if len(line) <= MAX_FOUND_LINE:
                self._found[line] = found
        return found

    def _find(self, line: str) -> Resolved:
        node = self.root
        rest = line.lstrip()
        path: list[str] = []
        typed: list[str] = []
        default = ""
        if rest.startswith("!"):
            rest = "shell " + rest[1:]
        elif rest.startswith("|"):
            rest = "pipe " + rest[1:]
        while True:
            word = WORD.match(rest) or (None if path else SCROLLS.match(rest))
            if word is None or not node.children:
                break
            found = node.match(word.group())
            if isinstance(found, list):
                if node.spec is not None and (not found or not word.group().isidentifier()):
                    break  # not a sub-command: the arguments begin here
                self._fail(path, rest.rstrip() if found or path else word.group(), found)
            name, node = found
            if not path:
                self._need(name)
                node = self.root.children[name]
            path = [*node.own_name] if node.own_name else [*path, name]
            default = self.defaults.get((*typed, name), default)
            typed.append(name)
            rest = rest[word.end() :]
            if rest and not rest[0].isspace():
                break  # `p/x`, `x/4i`
            rest = rest.lstrip()
        if not path:
            found_word = WRONG_WORD.match(rest)
            self._fail(path, found_word[0] if found_word is not None else "", [])
        if node.spec is None:
            if rest.strip():
                self._fail(path, rest.rstrip(), [])
            assert self.prefix_command is not None
            return Resolved(self.prefix_command(path, node), "")
        if default:
            rest = f"{default} {rest}".rstrip()
        if not node.spec.keeps_blanks:
            rest = rest.rstrip()
        return Resolved(node.spec, rest)

    @staticmethod
    def _fail(path: list[str], word: str, candidates: list[str]) -> NoReturn:
        prefix = " ".join(path)
        if candidates:
            where = f"{prefix} " if prefix else ""
            raise CommandError(f'Ambiguous {where}command "{word}": {_first_few(candidates)}.')
        if prefix:
            raise CommandError(f'Undefined {prefix} command: "{word}".  Try "help {prefix}".')
        raise CommandError(f'Undefined command: "{word}".  Try "help".')

    def node(self, words: list[str]) -> tuple[list[str], Node]:
        """Return the node that (possibly abbreviated) words name, and the words' full names. Raises `CommandError`."""
        node = self.root
        path: list[str] = []
        for word in words:
            found = node.match(word)
            if isinstance(found, list):
                self._fail(path, word, found)
            name, node = found
            if not path:
                self._need(name)
            path = [*node.own_name] if node.own_name else [*path, name]
        return path, node

    def specs(self) -> Iterator[CommandSpec]:
        """Yield every command once, sorted by name."""
        self._need(None)
        seen: dict[str, CommandSpec] = {}

        def walk(node: Node) -> None:
            if node.spec is not None:
                seen.setdefault(node.spec.name, node.spec)
            for child in node.children.values():
                if not child.is_alias:
                    walk(child)

        walk(self.root)
        yield from (seen[name] for name in sorted(seen))
