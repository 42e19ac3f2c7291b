"""Slow, obvious twins of hashed n-grams and of logistic regression on rarely set items."""

from functools import reduce
from hashlib import blake2b

import numpy as np
from sklearn.linear_model import LogisticRegression

ALL = 2**64 - 1


def number(text):
    return int.from_bytes(
        blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little"
    )


def mixed(state, value):
    """MurmurHash3's finalizer."""
    state = (state ^ value) * 0x9E3779B97F4A7C15 & ALL
    state = (state ^ state >> 33) * 0xFF51AFD7ED558CCD & ALL
    state = (state ^ state >> 33) * 0xC4CEB9FE1A85EC53 & ALL
    return state ^ state >> 33


def items(path, attribute):
    """Edges and one attribute of the nodes, as hashes."""
    found = []
    for edge, *words in path:
        word = number(words[attribute])
        if edge.startswith("role="):
            found.append(mixed(number(edge), word))
        else:
            found += [word] if edge == "dep=" else [number(edge), word]
    return tuple(found)


def n_grams(path, longest, n_attributes):
    """Tuples of hashes, and the scale of the length."""
    found = set()
    for attribute in range(n_attributes):
        row = items(path, attribute)
        spans = [(a, b) for b in range(len(row) + 1) for a in range(b) if b - a <= longest]
        found |= {row[a:b] for a, b in spans} | ({row} if row else set())
        found.add(("scale", len(row).bit_length()))
    return found


def ends(path, n_attributes):
    """The first and the last hash together, alone and with each between them."""
    rows = [items(path, attribute) for attribute in range(n_attributes)]
    return {
        ("ends", row[0], row[-1], *between)
        for row in rows
        if len(row) > 1
        for between in [(), *((word,) for word in row[1:-1])]
    }


def skips(path, most, n_attributes):
    """Pairs of hashes with 1 to `most` others between them."""
    rows = [items(path, attribute) for attribute in range(n_attributes)]
    return {
        ("skip", row[a], row[b])
        for row in rows
        for b in range(len(row))
        for a in range(b)
        if 1 <= b - a - 1 <= most
    }


def column(view, n_gram, width):
    seed = number(f"view={view}")
    if n_gram[0] == "skip":
        return reduce(mixed, (2**40, *n_gram[1:]), seed ^ ALL) % width
    if n_gram[0] == "ends":
        return reduce(mixed, n_gram[1:], seed ^ ALL) % width
    if n_gram[0] == "scale":
        return mixed(seed ^ ALL, n_gram[1]) % width
    return reduce(mixed, n_gram, seed) % width


def columns(paths, max_lengths, with_ends, max_skips, n_attributes, width):
    """Set columns of one candidate; `paths` by view."""
    found = {
        (view, n_gram)
        for view, longest in max_lengths.items()
        for n_gram in n_grams(paths[view], longest, n_attributes)
    }
    for view in with_ends:
        found |= {(view, n_gram) for n_gram in ends(paths[view], n_attributes)}
    for view, most in max_skips.items():
        found |= {(view, n_gram) for n_gram in skips(paths[view], most, n_attributes)}
    return {column(view, n_gram, width) for view, n_gram in found}


class Linear:
    """Dense logistic regression of scikit-learn on scaled rows; dense is 0 or 1 (n, width)."""

    def __init__(self, dense, y, *, C=10.0, min_count=2, class_weight=None, seed=0):
        counts, n = dense.sum(axis=0), len(dense)
        self.used = counts >= min_count
        self.rarity = np.where(self.used, np.log((n + 1) / (counts + 1)), np.log(n + 1))
        self.labels = sorted(set(y.tolist()))
        self.machines = {}
        for label in self.labels[len(self.labels) == 2 :]:
            machine = LogisticRegression(
                C=C,
                solver="liblinear",
                dual=True,
                random_state=seed,
                max_iter=1000,
                class_weight="balanced" if class_weight == "balanced" else None,
            )
            weights = class_weight if isinstance(class_weight, dict) else {}
            each = [weights.get(k, 1.0) for k in y.tolist()]
            self.machines[label] = machine.fit(self.rows(dense), y == label, sample_weight=each)

    def rows(self, dense):
        weighed = dense * self.rarity
        lengths = np.linalg.norm(weighed, axis=1, keepdims=True)
        return np.divide(weighed, lengths, out=weighed, where=lengths > 0)[:, self.used]

    def predict_proba(self, dense, n_labels):
        out = np.zeros((len(dense), n_labels))
        for label, machine in self.machines.items():
            out[:, label] = machine.predict_proba(self.rows(dense))[:, 1]
        if len(self.machines) == 1:
            out[:, self.labels[0]] = 1 - out[:, self.labels[1]]
        return out / out.sum(axis=1, keepdims=True)
