"""What names in an expression mean: variables, functions, types, and everything with a dollar."""
