"""An assembler that reads the decoder's tables the other way round: what is printed gives the same bytes again.

``syntax`` takes a line apart, ``encoder`` finds the row of the table that it belongs to, ``row_encoder`` makes the word
of one row: ``operand_fields`` and ``modifier_fields`` set the bits of each of its items, ``numbers`` and ``named`` read
what is not a register. ``rules`` says which operands go together.
"""
