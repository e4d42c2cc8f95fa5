"""The verbs of the board, and what agents of ib have to do with it."""
