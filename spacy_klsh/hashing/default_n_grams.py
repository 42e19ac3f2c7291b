"""The n-grams that features are by default: here the config finds them without loading numba."""

LENGTHS = {
    "path": 3,
    "dependents": 2,
    "before": 2,
    "between": 3,
    "after": 2,
    "words": 1,
    "between.pos": 3,
    "words.pos": 2,
}
ENDS = ["between"]
SKIPS = {"path": 4, "between": 4}
