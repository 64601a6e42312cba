"""What names in an expression mean: variables, functions, types, and names with a dollar."""
