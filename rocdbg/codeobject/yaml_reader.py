"""YAML of code object V2, as plain maps, lists and text.

This module assembles and counts the parser's events itself, because the library's composer is not safe: it recurses for
every bracket, so deeply nested text ends the process, and it expands a few nested aliases to gigabytes.
"""

from __future__ import annotations

from typing import Any

from rocdbg import work

MAX_SIZE = 4 << 20
"""Maximum number of bytes of text that are read; a kernel takes about two kilobytes."""
_MOST = 1 << 19
"""Maximum number of maps, sequences and scalars: a text of 4 MB that describes kernels has 400,000, others millions."""
_DEEPEST = 32
"""Maximum nesting of maps and sequences; compilers need six."""


class YamlDamage(Exception):
    """Text that is not the YAML of metadata; the message says why."""


def read_yaml(text: str) -> Any:
    """The document in ``text``: maps with text for keys, lists, and scalars as text; None if it is empty.

    Raises `YamlDamage`.
    """
    import yaml  # only code object V2 needs it, and it takes a while

    if len(text) > MAX_SIZE:
        raise YamlDamage(f"it has {len(text)} characters; the limit is {MAX_SIZE}")
    documents: list[Any] = []
    # For each open map or list: itself, and the key that waits for its value (None if a key is next).
    stack: list[tuple[dict[str, Any] | list[Any], str | None]] = []

    def put(value: Any) -> None:
        if not stack:
            documents.append(value)
            if len(documents) > 1:
                raise YamlDamage("it contains more than one document")
            return
        holder, key = stack[-1]
        if isinstance(holder, list):
            holder.append(value)
        elif key is not None:
            holder[key] = value
            stack[-1] = (holder, None)
        elif isinstance(value, str):
            stack[-1] = (holder, value)
        else:
            raise YamlDamage("a key is not text")

    count = 0
    try:
        for event in yaml.parse(text, Loader=getattr(yaml, "CBaseLoader", yaml.BaseLoader)):
            work.unit()
            count += 1
            if count > _MOST:
                raise YamlDamage(f"it has more than {_MOST} values")
            if isinstance(event, yaml.ScalarEvent):
                put(event.value)
            elif isinstance(event, yaml.MappingStartEvent | yaml.SequenceStartEvent):
                if len(stack) >= _DEEPEST:
                    raise YamlDamage(f"it is nested more than {_DEEPEST} deep")
                made: dict[str, Any] | list[Any] = {} if isinstance(event, yaml.MappingStartEvent) else []
                put(made)
                stack.append((made, None))
            elif isinstance(event, yaml.MappingEndEvent | yaml.SequenceEndEvent):
                stack.pop()
            elif isinstance(event, yaml.AliasEvent):
                raise YamlDamage("it contains an alias, which is not supported")
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        if "nesting depth" in str(error):  # libyaml newer than 0.2.5 looks ahead and has a limit of its own
            raise YamlDamage(f"it is nested more than {_DEEPEST} deep") from None
        raise YamlDamage(str(error).splitlines()[0] if str(error) else type(error).__name__) from None
    return documents[0] if documents else None
