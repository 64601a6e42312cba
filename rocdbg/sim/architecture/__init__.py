"""The architectural state of a run: everything that a program can access, by name, and nothing else.

State from outside is accepted only in this form: recordings write through it, and so must files of checkpoints or
cores and remote protocols. `places` defines the names, `state` reads and writes what they name, checked against the
launch, and `image` is all of it at one moment. What the engine relies on (`layout.ENGINE`, `schedule.SCHEDULE`, the
page table, the environment) has no name here.
"""
