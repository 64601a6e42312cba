"""An oracle for instruction semantics: AMD's own pseudocode, interpreted.

The PyPI package ``tinygrad`` contains the pseudocode of AMD's ISA documents, by instruction, for RDNA3 (gfx1100), RDNA4
(gfx1201) and CDNA (gfx942, gfx950). It is read as data; none of its code runs. ``compare`` makes machine words for
every instruction and encoding, runs them on the engine and through the interpreter, and shows the differences;
``deviations`` lists the deliberate deviations from the text, with reasons::

    python -m tests.sim.pcode.compare gfx1100 'v_mad_.*'

Neither is part of the test run, because the project does not depend on the package.
"""
