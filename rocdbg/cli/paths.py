"""File names as users type them."""

from __future__ import annotations

from pathlib import Path


def expand(name: str | Path) -> Path:
    """A name with its ``~`` replaced; one of nobody's home stays as it is, as in the shell."""
    path = Path(name)
    try:
        return path.expanduser()
    except (RuntimeError, KeyError):
        return path
