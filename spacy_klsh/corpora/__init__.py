"""Public formats -> Docs with gold relations."""
