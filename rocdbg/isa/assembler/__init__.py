"""An assembler that uses the decoder's tables in reverse: assembling the printed text gives the same bytes again.

``line_syntax`` splits a line, ``encoder`` finds its row of the table, and ``row_encoder`` makes the word of one row:
``operand_fields`` and ``modifier_fields`` set the bits of each of its items, ``typed_numbers`` and
``named_immediates`` parse what is not a register. ``operand_rules`` says which operands may be combined.
"""
