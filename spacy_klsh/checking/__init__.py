"""Gold Docs before training: what is in them, what training makes of it, what is wrong."""
