"""What a kernel is launched with: typed buffers and values, their initial contents, and expected results."""
