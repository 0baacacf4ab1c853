"""`python -m softparse`, which is also what torchrun starts."""

from .cli import main

main(prog_name="softparse")
