"""The full-screen mode: what its windows show of a session (pure), and the terminal application that shows them."""
