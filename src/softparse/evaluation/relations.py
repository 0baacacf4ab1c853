"""The universal relations and which of them join content words, as the shared-task scorers divide them."""

from __future__ import annotations

PUNCTUATION = "punct"
FUNCTION_WORDS = frozenset(("aux", "case", "cc", "clf", "cop", "det", "mark"))
UNIVERSAL = FUNCTION_WORDS | {
    *("nsubj", "csubj", "obj", "iobj", "ccomp", "xcomp"),  # core arguments
    *("obl", "vocative", "expl", "dislocated", "advcl", "advmod", "discourse"),  # other dependents of predicates
    *("nmod", "appos", "nummod", "acl", "amod"),  # dependents of nominals
    *("conj", "fixed", "flat", "list", "parataxis", "compound", "orphan", "goeswith", "reparandum"),
    *("punct", "root", "dep"),
}
CONTENT_WORDS = UNIVERSAL - FUNCTION_WORDS - {PUNCTUATION}


def universal(label: str) -> str:
    """A label without its subtype.

    >>> universal("acl:relcl")
    'acl'
    """
    return label.partition(":")[0]
