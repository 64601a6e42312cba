"""The full-screen mode: the contents of its windows (pure), and the terminal application that shows them."""
