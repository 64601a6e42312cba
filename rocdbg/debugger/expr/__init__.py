"""C expressions as a debugger reads them: lexer, syntax tree, parser, evaluator, and the names they may use."""
