"""Names shared by the kernels and the torch path: the views of the recursion over spans, and its charts."""

BEST, LOG, RELAXED = 0, 1, 2  # how an item chooses among its splits; see `spans`

WIDE_CHARTS = 3  # complete, incomplete, pair: weights, float64
THIN_CHARTS = 4  # complete δ, pair δ, complete share, incomplete share: the caller's dtype
