"""The architectural state of a run: what a program can have, each by its name, and nothing else.

This is the only form in which state comes back from outside: recordings write through it, and files of checkpoints or
cores and remote protocols are to. `places` are the names, `state` reads and writes what they name, checked against the
launch, `image` is all of it at one moment. What the engine relies on (`layout.ENGINE`, `schedule.SCHEDULE`, the page
table, the environment) has no name here.
"""
