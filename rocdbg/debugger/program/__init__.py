"""The program: code objects with their debug information, source text, and locations in them."""
