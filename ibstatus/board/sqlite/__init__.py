"""The board on SQLite: one file, one machine. `board.open_board` is the way in; the rules stand in 001_board.sql."""
