"""The architectural state of a run: everything that a program can access, by name, and nothing else.

State from outside is accepted only in this form: recordings are written through it, and checkpoint files, core files
and remote protocols must be, too. `places` defines the names; `state` reads and writes what they name, after checking
it against the launch; `image` has the whole state at one moment. Data on which the engine relies (`layout.ENGINE`,
`schedule.SCHEDULE`, the page table, the environment) has no name here.
"""
