"""The meanings of names in expressions: variables, functions, types, and names with a dollar."""
