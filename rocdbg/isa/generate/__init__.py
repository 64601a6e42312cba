"""Generator of the encoding tables: asks LLVM's disassembler what each opcode of each layout looks like.

Run by hand: ``python -m rocdbg.isa.generate [TARGET...]``. It needs libLLVM 22 (``LIBLLVM`` names another path).
"""
