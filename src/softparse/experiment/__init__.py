"""Experiments that can be rerun: settings of data, rows of tables, runs over seeds, and what came out."""
