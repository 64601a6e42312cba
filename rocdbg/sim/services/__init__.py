"""The services of a host for a running kernel: printf, device memory, queues. `HostServices` combines them all.

A complete program has a runtime that provides them. These modules provide them for launches without a program.
"""
