"""Everything that knows spaCy's Doc."""
