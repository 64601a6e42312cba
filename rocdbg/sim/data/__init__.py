"""Tables of formats, shapes and operations that the semantics and the translator share."""
