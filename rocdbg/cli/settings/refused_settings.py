"""GDB's settings that rocdbg does not have. Their names are known, so that `set`, `show` and `help` give the reason.

`rocdbg.cli.settings.settings_without_effect` has the settings whose values are stored.
"""

from __future__ import annotations

from collections.abc import Iterator

from rocdbg.cli.arguments import Arguments
from rocdbg.cli.command_registry import Category, CommandError, CommandSpec, Registry, Repeat

_LANGUAGE = "this command is for a language that kernels are not written in"
_PYTHON = "rocdbg is extended by plug-ins (help plugin), not by scripts inside a session"
_GUILE = "there is no Guile in rocdbg"
_BRANCHES = "use the reverse commands to examine a recording, which is not a processor's trace"
_PROCESSOR = "it applies to the host's processor"

PREFIX = {
    "ada": ("Prefix command for changing Ada-specific settings.", "Generic command for showing Ada-specific settings."),
    "fortran": (
        "Prefix command for changing Fortran-specific settings.",
        "Generic command for showing Fortran-specific settings.",
    ),
    "frame-filter": (
        "Prefix command for 'set' frame-filter related operations.",
        "Prefix command for 'show' frame-filter related operations.",
    ),
    "guile": ("Prefix command for Guile preference settings.", "Prefix command for Guile preference settings."),
    "mpx": (
        "Set Intel Memory Protection Extensions specific variables.",
        "Show Intel Memory Protection Extensions specific variables.",
    ),
    "python": ("Prefix command for python preference settings.", "Prefix command for python preference settings."),
    "ravenscar": (
        "Prefix command for changing Ravenscar-specific settings.",
        "Prefix command for showing Ravenscar-specific settings.",
    ),
    "remote": ("Remote protocol specific variables.", "Remote protocol specific variables."),
}
"""GDB's help on the prefixes of settings, for `set` and `show`."""

ROWS = (
    ("ada print-signatures", "Enable or disable the output of formal and return types for functions in the overloads "
     "selection menu.", "Show whether the output of formal and return types for functions in the overloads selection "
     "menu is activated.", _LANGUAGE),
    ("ada source-charset", "Set the Ada source character set.", "Show the Ada source character set.", _LANGUAGE),
    ("ada trust-PAD-over-XVS", "Enable or disable an optimization trusting PAD types over XVS types.",
     "Show whether an optimization trusting PAD types over XVS types is activated.", _LANGUAGE),
    ("cp-abi", "Set the ABI used for inspecting C++ objects.", "Show the ABI used for inspecting C++ objects.",
     "all compilers for AMD GPUs use the same C++ ABI"),
    ("data-directory", "Set rocdbg's data directory.", "Show rocdbg's data directory.",
     "rocdbg has no data directory"),
    ("extension-language", "Set mapping between filename extension and source language.",
     "Show mapping between filename extension and source language.",
     'debug information gives the language of each source file (use "set language" to change it)'),
    ("fortran repack-array-slices", "Enable or disable repacking of non-contiguous array slices.",
     "Show whether non-contiguous array slices are repacked.", _LANGUAGE),
    ("frame-filter priority", "rocdbg command to set the priority of the specified frame-filter.",
     "rocdbg command to show the priority of the specified frame-filter.", _PYTHON),
    ("guile print-stack", "Set mode for Guile exception printing on error.",
     "Show the mode of Guile exception printing on error.", _GUILE),
    ("mpx bound", "Set the memory bounds for a given array/pointer storage in the bound table.",
     "Show the memory bounds for a given array/pointer storage in the bound table.", _PROCESSOR),
    ("python dont-write-bytecode", "Set whether the Python interpreter should avoid byte-compiling python modules.",
     "Show whether the Python interpreter should avoid byte-compiling python modules.", _PYTHON),
    ("python ignore-environment", "Set whether the Python interpreter should ignore environment variables.",
     "Show whether the Python interpreter showlist ignore environment variables.", _PYTHON),
    ("python print-stack", "Set mode for Python stack dump on error.",
     "Show the mode of Python stack printing on error.", _PYTHON),
    ("ravenscar task-switching", "Enable or disable support for GNAT Ravenscar tasks.",
     "Show whether support for GNAT Ravenscar tasks is enabled.", _LANGUAGE),
    ("record btrace cpu", "Set the cpu to be used for trace decode.", "Show the cpu to be used for trace decode.",
     _BRANCHES),
    ("remote", *PREFIX["remote"], "the target is part of rocdbg, which does not connect to any other target"),
)
"""Name, the first lines of the help on `set` and `show`, and why the setting does not apply."""

ONLY = (
    ("show configuration", "Show how rocdbg was configured at build time.",
     "rocdbg has no build-time configuration (see show version)"),
    ("show index-cache stats", "Show some stats about the index cache.",
     "rocdbg has another cache (docs/cache.md)"),
    ("unset exec-wrapper", "Disable use of an execution wrapper.", "programs are started without a wrapper"),
)
"""Commands about settings that do not belong to a pair of `set` and `show`."""


def reason_against_setting(name: str) -> str | None:
    """Return why a setting, or all settings with a prefix, do not apply here; None if they do."""
    return next((reason for own, _, _, reason in ROWS if f"{own} ".startswith(f"{name} ")), None)


def _spec(words: tuple[str, ...], summary: str, reason: str) -> CommandSpec:
    name = " ".join(words)

    def handler(shell: object, text: str) -> None:
        raise CommandError(f'The "{name}" command does not apply to rocdbg: {reason}.')

    return CommandSpec(
        words, handler, Category.SUPPORT, f"{summary}\n\nDoes not apply to rocdbg: {reason}.", usage=name,
        repeat=Repeat.NEVER, arguments=Arguments(), hidden=True,
    )


def _specs() -> Iterator[CommandSpec]:
    for name, set_summary, show_summary, reason in ROWS:
        yield _spec(("set", *name.split()), set_summary, reason)
        yield _spec(("show", *name.split()), show_summary, reason)
    for name, summary, reason in ONLY:
        yield _spec(tuple(name.split()), summary, reason)


def add_settings_away(registry: Registry) -> None:
    """Declare these settings, except those that the registry already has."""
    for spec in _specs():
        if not registry.has(spec.name):
            registry.add(spec)
