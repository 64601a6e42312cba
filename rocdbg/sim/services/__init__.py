"""What a host does for a kernel while it runs: printf, device memory, queues. `HostServices` combines all of it.

Whole programs bring a runtime that does this. These modules serve launches without one.
"""
