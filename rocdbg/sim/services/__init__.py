"""What a host does for a kernel while it runs: printf, device memory, queues. `HostServices` is all of it.

Whole programs bring a runtime that does this. These modules are for launches without one.
"""
