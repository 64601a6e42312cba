"""What instructions do: one small function per instruction over the abstract builder.

`registry.semantic` registers a function, `access.Access` is its argument.
"""
