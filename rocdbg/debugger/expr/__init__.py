"""C expressions of the debugger: lexer, syntax tree, parser, evaluator, and the names they may use."""
