"""The host of plug-ins: what they register, and the guard around every call into them.

A plug-in is a module with a function ``register(api)``. It is found as an entry point of the group ``rocdbg.plugins``
by name, or by the path of a Python file. A fault in a plug-in causes one warning.
"""

from __future__ import annotations

import importlib.util
import os
import signal
from collections.abc import Callable, Sequence
from contextlib import suppress
from importlib.machinery import SourceFileLoader
from itertools import islice
from pathlib import Path
from types import CodeType, ModuleType
from typing import TYPE_CHECKING, Any, TypeVar

from msgspec import Struct, field

from rocdbg.debugger.base.errors import ControlFlow, PluginError
from rocdbg.debugger.expr.names.convenience_variables import EvaluationHost, Function
from rocdbg.debugger.plugin_session import PluginSession
from rocdbg.debugger.running.observer import Observer
from rocdbg.debugger.running.stop_events import StopEvent
from rocdbg.debugger.target.capabilities.target_state import Target
from rocdbg.debugger.values.appearance import Pretty, PrettyPrinter
from rocdbg.debugger.values.value import Value
from rocdbg.errors import Error

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

    from rocdbg.debugger.session import Session as EngineSession

GROUP = "rocdbg.plugins"
MAX_NESTED = 8
"""How deeply pretty-printers may nest; more deeply nested values are shown without them."""
MAX_CHILDREN = 100_000
"""The maximum number of children that a pretty-printer may return for one value."""
T = TypeVar("T")

StopHook = Callable[[PluginSession, StopEvent], None]


class Plugin(Struct):
    """A loaded plug-in and what it registered. ``commands`` are opaque to the engine."""

    name: str
    source: str
    description: str = ""
    commands: list[Any] = field(default_factory=list)
    functions: list[str] = field(default_factory=list)
    printers: list[PrettyPrinter] = field(default_factory=list)
    stop_hooks: list[StopHook] = field(default_factory=list)
    observers: list[Observer] = field(default_factory=list)
    enabled: bool = True
    faults: int = 0


class PluginApi:
    """The interface that is passed to a plug-in's ``register``."""

    def __init__(self, host: PluginHost, plugin: Plugin) -> None:
        self._host = host
        self._plugin = plugin

    @property
    def session(self) -> PluginSession:
        """The session, as plug-ins see it."""
        return PluginSession(self._host.session)

    def command(self, command: Any) -> None:
        """Add a command; the front end defines what a command is."""
        self._plugin.commands.append(command)
        self._host.command_added(self._plugin, command)

    def function(self, name: str, function: Function) -> None:
        """Add the convenience function ``$name``: ``function(host, values) -> Value``."""
        if not isinstance(name, str) or not name.isidentifier():
            raise PluginError(f"Plug-in {self._plugin.name}: {name!r} is not a valid name for a convenience function.")
        self._plugin.functions.append(name)
        plugin, host = self._plugin, self._host

        def guarded(evaluation: EvaluationHost, arguments: Sequence[Value]) -> Value:
            result: object = host.call(plugin, f"function ${name}", lambda: function(evaluation, arguments))
            if not isinstance(result, Value):
                kind = type(result).__name__
                raise PluginError(f"Plug-in {plugin.name}: function ${name} returned {kind}, not a Value.")
            return result

        self._host.session.convenience.functions[name] = guarded

    def pretty_printer(self, printer: PrettyPrinter) -> None:
        """Add a pretty-printer: ``printer(value)`` returns a `Pretty` or text, or ``None`` for values it does not
        handle.
        """
        self._plugin.printers.append(printer)

    def on_stop(self, hook: StopHook) -> None:
        """Call ``hook(session, event)`` after each stop."""
        self._plugin.stop_hooks.append(hook)

    def observer(self, observer: Observer) -> None:
        """Notify ``observer`` of launches, stops and ends; an observer that fails is switched off."""
        self._plugin.observers.append(observer)


class PluginHost(Observer):
    """Loads plug-ins and calls them. The front end sets ``command_added`` and ``command_removed``."""

    def __init__(self, session: EngineSession) -> None:
        self.session = session
        self.plugins: dict[str, Plugin] = {}
        self._printing: list[PrettyPrinter] = []  # the pretty-printers in progress
        self.command_added: Callable[[Plugin, Any], None] = lambda plugin, command: None
        self.command_removed: Callable[[Any], None] = lambda command: None

    # -- loading

    def available(self) -> dict[str, EntryPoint]:
        """Return the installed plug-ins, by name."""
        from importlib.metadata import entry_points  # slow to import, and few sessions need it

        return {point.name: point for point in entry_points(group=GROUP)}

    def load(self, what: str) -> Plugin:
        """``plugin load NAME|PATH``. Raises `PluginError` if it is not found or cannot be loaded."""
        if what in self.plugins:
            raise PluginError(f"Plug-in {what} is already loaded.")
        points = self.available()
        if what in points:
            name, source = what, points[what].value
            module = self._import(what, lambda: points[what].load())
        else:
            path = Path(what)
            with suppress(RuntimeError, KeyError):  # there is no such home directory
                path = path.expanduser()
            is_file = os.path.isfile(path)  # noqa: PTH113 - never raises
            if path.suffix != ".py" and "/" not in what:  # a name never refers to a file in the current directory
                module_and_source = self._shipped(what)
                if module_and_source is None:
                    known = ", ".join(sorted({*points, *_shipped_names()})) or "none"
                    raise PluginError(f"No plug-in {what} is installed; installed plug-ins: {known}.")
                name, (module, source) = what, module_and_source
            else:
                if not is_file:
                    raise PluginError(f"{path}: No such file or directory.")
                name, source = path.stem, str(path)
                if name in self.plugins:
                    raise PluginError(f"Plug-in {name} is already loaded.")
                module = self._import(name, lambda: _load_file(path))
        return self._register(name, source, module)

    def _shipped(self, name: str) -> tuple[ModuleType, str] | None:
        """Return a plug-in from the ``plugins`` folder of the source tree, if rocdbg runs from there uninstalled."""
        path = Path(__file__).resolve().parents[2] / "plugins" / f"{name}.py"
        if name not in _shipped_names():
            return None
        return self._import(name, lambda: _load_file(path)), str(path)

    def _import(self, name: str, load: Callable[[], Any]) -> ModuleType:
        try:
            module = load()
            registers = callable(getattr(module, "register", None))
        except BaseException as error:  # the guard: any error during the import is the plug-in's fault
            if not _is_fault(error):
                raise
            raise PluginError(f"Plug-in {name} cannot be loaded: {_describe(error)}") from error
        if not registers:
            raise PluginError(f"Plug-in {name} has no function register(api).")
        return module  # type: ignore[no-any-return]

    def _register(self, name: str, source: str, module: ModuleType) -> Plugin:
        text = str(module.__doc__ or "").strip()
        plugin = Plugin(name, source, text.splitlines()[0] if text else "")
        self.plugins[name] = plugin
        try:
            module.register(PluginApi(self, plugin))
        except BaseException as error:
            self.unload(name)
            if not _is_fault(error):
                raise
            raise PluginError(f"Plug-in {name} cannot be loaded: {_describe(error)}") from error
        return plugin

    def unload(self, name: str) -> None:
        """``plugin unload NAME``: remove everything that it registered. Raises `PluginError` if it is not loaded."""
        plugin = self.plugins.pop(name, None)
        if plugin is None:
            raise PluginError(f"Plug-in {name} is not loaded.")
        for command in reversed(plugin.commands):
            self.command_removed(command)
        for function in plugin.functions:
            self.session.convenience.forget_function(function)

    # -- calling

    def call(self, plugin: Plugin, what: str, function: Callable[[], T]) -> T:
        """Call into a plug-in. A `rocdbg.Error` is passed on; any other exception becomes a `PluginError`."""
        try:
            return function()
        except Error:
            raise
        except BaseException as error:  # the guard
            if not _is_fault(error):
                raise
            plugin.faults += 1
            raise PluginError(f"Plug-in {plugin.name}: {what} failed: {_describe(error)}") from error

    def pretty(self, value: Value) -> Pretty | str | None:
        """Call the pretty-printers, those of the newest plug-in first; a faulty one is switched off with a warning."""
        for plugin in reversed(self.plugins.values()):
            for printer in list(plugin.printers) if plugin.enabled else ():
                if self._printing.count(printer) >= MAX_NESTED:
                    continue  # it is in progress already: formatting a value, it requests the text of another
                self._printing.append(printer)
                try:
                    result = checked(printer(value))
                except Error:
                    raise
                except BaseException as error:  # the guard
                    self._switch_off(plugin, plugin.printers, printer, "a pretty-printer", error)
                    continue
                finally:
                    self._printing.remove(printer)
                if result is not None:
                    return result
        return None

    def printer(self) -> PrettyPrinter | None:
        """`pretty` if there are any printers, otherwise None."""
        return self.pretty if self.has_printers else None

    @property
    def has_printers(self) -> bool:
        """Whether any plug-in formats values."""
        return any(plugin.enabled and plugin.printers for plugin in self.plugins.values())

    def launched(self, target: Target) -> None:
        """Notify the observers; a faulty one is switched off with a warning."""
        self._tell(_observers, lambda observer: observer.launched(target), "an observer")

    def stopped(self, event: StopEvent) -> None:
        """Notify the observers as `launched` does, and call the stop hooks."""
        self._tell(_observers, lambda observer: observer.stopped(event), "an observer")
        session = PluginSession(self.session)
        self._tell(lambda plugin: plugin.stop_hooks, lambda hook: hook(session, event), "a stop hook")

    def left(self) -> None:
        """Notify the observers as `launched` does."""
        self._tell(_observers, lambda observer: observer.left(), "an observer")

    def _tell(self, of: Callable[[Plugin], list[T]], tell: Callable[[T], None], what: str) -> None:
        """Call all functions of one kind that plug-ins have registered."""
        for plugin in self.plugins.values():
            for item in list(of(plugin)) if plugin.enabled else ():
                try:
                    tell(item)
                except BaseException as error:  # the guard
                    self._switch_off(plugin, of(plugin), item, what, error)

    def _switch_off(self, plugin: Plugin, items: list[T], item: T, what: str, error: BaseException) -> None:
        """Disable a faulty function of a plug-in. Re-raise an error that no plug-in caused."""
        if not _is_fault(error):
            raise error
        plugin.faults += 1
        items.remove(item)
        text = f"{what} failed and is switched off: {_describe(error)}"
        self.session.warnings.add(f"Plug-in {plugin.name}: {text}")


def _observers(plugin: Plugin) -> list[Observer]:
    return plugin.observers


def _shipped_names() -> list[str]:
    """Return the plug-ins in the source tree, if rocdbg runs from there."""
    folder = Path(__file__).resolve().parents[2] / "plugins"
    return [path.stem for path in folder.glob("[a-z]*.py")] if (folder / "lanemap.py").is_file() else []


class _Loader(SourceFileLoader):
    """Compiles a plug-in each time. Python's own cache detects changes only by size and time in seconds, and would be
    written next to the user's plug-in.
    """

    def get_code(self, fullname: str) -> CodeType:
        path = self.get_filename(fullname)
        code: CodeType = self.source_to_code(self.get_data(path), path)
        return code


def _load_file(path: Path) -> ModuleType:
    name = f"rocdbg_plugin_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path, loader=_Loader(name, str(path)))
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def checked(result: object) -> Pretty | str | None:
    """Validate a pretty-printer's result: the types must be allowed ones; children become a list of limited length.

    Raises `TypeError`, or what a generator of children raises.
    """
    if result is None or isinstance(result, str):
        return result if result is None else str.__str__(result)  # of a subclass of str, keep only the text
    if not isinstance(result, Pretty):
        raise TypeError(f"a pretty-printer must return Pretty, str or None, not {type(result).__name__}")
    if not isinstance(result.text, str | None):
        raise TypeError(f"the text of a Pretty must be str or None, not {type(result.text).__name__}")
    children = tuple(islice(result.children, MAX_CHILDREN + 1))
    if len(children) > MAX_CHILDREN:
        raise ValueError(f"a Pretty can have at most {MAX_CHILDREN} children")
    for child in children:
        if not (isinstance(child, tuple | list) and len(child) == 2 and isinstance(child[1], Value)):
            raise TypeError("each child of a Pretty must be a pair of a name and a Value")
    text = result.text if result.text is None else str.__str__(result.text)
    return Pretty(text, tuple((str(name), value) for name, value in children), str(result.hint))


def _is_fault(error: BaseException) -> bool:
    """Whether a plug-in is at fault for an exception: yes, except for Ctrl-C and exceptions that unwind a session.

    With a front end's handlers, Ctrl-C raises a subclass of KeyboardInterrupt; a plain KeyboardInterrupt then comes
    from the plug-in itself.
    """
    if isinstance(error, ControlFlow):
        return False
    if isinstance(error, KeyboardInterrupt):
        return type(error) is KeyboardInterrupt and signal.getsignal(signal.SIGINT) is not signal.default_int_handler
    return True


def _describe(error: BaseException) -> str:
    try:
        text = str(error).partition("\n")[0]
    except Exception:  # errors in the methods of the plug-in's exception are the plug-in's fault, too
        text = ""
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
