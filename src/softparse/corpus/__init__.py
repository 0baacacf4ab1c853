"""Treebanks and text: reading, checking, lifting, counting, splitting. No networks."""
