"""Texts in, relations out, without end."""
