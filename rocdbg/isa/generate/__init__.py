"""Generator of the encoding tables: determines from LLVM's disassembler how each opcode of each layout is printed.

Run by hand: ``python -m rocdbg.isa.generate [TARGET...]``. It needs libLLVM 22 (``LIBLLVM`` gives another path).
"""
