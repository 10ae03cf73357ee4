// lexer
