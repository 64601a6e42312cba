"""The semantics of instructions: one small function per instruction, which uses the abstract builder.

`registry.semantic` registers a function, `access.Access` is its argument.
"""
