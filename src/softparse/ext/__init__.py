"""Edges that need an extra: each file imports one optional package, when it is used, and nothing else imports it."""
