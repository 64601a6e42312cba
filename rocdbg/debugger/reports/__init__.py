"""What the session can tell: tables of threads and lanes, symbols, frames in words, memory examined."""
