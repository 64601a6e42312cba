"""From the text of an expression to its syntax tree: tokens, macros, grammar."""
