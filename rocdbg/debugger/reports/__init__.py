"""Reports of a session: tables of threads and lanes, symbols, descriptions of frames, examined memory."""
