"""An oracle for instruction semantics: AMD's own pseudocode, interpreted.

The PyPI package ``tinygrad`` carries the pseudocode of AMD's ISA documents, per instruction, for RDNA3 (gfx1100),
RDNA4 (gfx1201) and CDNA (gfx942, gfx950). It is read here as data; nothing of it runs. ``compare`` makes machine
words for every instruction and encoding, runs them on the engine and through the interpreter, and shows where the
two differ; ``deviations`` lists where we knowingly do not do as the text says, and why::

    python -m tests.sim.pcode.compare gfx1100 'v_mad_.*'

Neither is part of the test run, since the package is no dependency of the project.
"""
