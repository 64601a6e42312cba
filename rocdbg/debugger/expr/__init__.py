"""C expressions as a debugger reads them: lexer, syntax tree, parser, evaluator."""
