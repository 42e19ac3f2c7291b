"""Slow, obvious twin of the relation scorer: sets, and matchings by trying them all.

A relation is (label, {role: (start, end)}) with character offsets.
"""

from itertools import combinations, permutations


def places(relation, scheme):
    """The roles with their places; those of a symmetric label go by position."""
    label, arguments = relation
    roles, spans = sorted(arguments), [arguments[role] for role in sorted(arguments)]
    if scheme.direction == "none" or label in scheme.symmetric:
        spans = sorted(spans, key=lambda span: (span[0], -span[1]))
    return label, tuple(zip(roles, spans, strict=True))


def overlapping(x, y):
    """Same label and roles, and every two arguments of one role share a character."""
    return (
        x[0] == y[0]
        and [role for role, _ in x[1]] == [role for role, _ in y[1]]
        and all(set(range(*a)) & set(range(*b)) for (_, a), (_, b) in zip(x[1], y[1], strict=True))
    )


def most_pairs(gold, found):
    """Size of the largest matching of overlapping relations."""
    few, many = sorted((gold, found), key=len)
    for size in range(len(few), 0, -1):
        for chosen in combinations(few, size):
            for partners in permutations(many, size):
                if all(map(overlapping, chosen, partners)):
                    return size
    return 0


def prf(tp, n_found, n_gold):
    p, r = tp / n_found if n_found else 0.0, tp / n_gold if n_gold else 0.0
    return {"p": p, "r": r, "f": 2 * p * r / (p + r) if p + r else 0.0}


def scores(docs, scheme, proposed=None):
    """Scores of (gold, found) relations, one pair a Doc; gold None: not annotated.

    `proposed` holds for each Doc the pairs of places that the candidates offer.
    """
    parts = [
        (
            {places(relation, scheme) for relation in gold if relation[0] not in scheme.negative},
            {places(relation, scheme) for relation in found if relation[0] not in scheme.negative},
            pairs,
        )
        for (gold, found), pairs in zip(docs, proposed or [set()] * len(docs), strict=True)
        if gold is not None
    ]
    labels = sorted({label for gold, found, _ in parts for label, _ in gold | found})
    exact, relaxed, sizes = dict.fromkeys(labels, 0), 0, {}
    for label in labels:
        own = [
            ({r for r in gold if r[0] == label}, {r for r in found if r[0] == label})
            for gold, found, _ in parts
        ]
        exact[label] = sum(len(gold & found) for gold, found in own)
        relaxed += sum(most_pairs(list(gold), list(found)) for gold, found in own)
        sizes[label] = sum(len(found) for _, found in own), sum(len(gold) for gold, _ in own)
    n_found, n_gold = (sum(sizes[label][i] for label in labels) for i in (0, 1))
    per_type = {label: prf(exact[label], *sizes[label]) for label in labels}
    reached = sum(
        spans in pairs or (relation[0] in scheme.symmetric and spans[::-1] in pairs)
        for gold, _, pairs in parts
        for relation in gold
        for spans in [tuple(span for _, span in relation[1])]
    )
    return {
        **{f"micro_{k}": v for k, v in prf(sum(exact.values()), n_found, n_gold).items()},
        **{f"relaxed_micro_{k}": v for k, v in prf(relaxed, n_found, n_gold).items()},
        "macro_f": sum(x["f"] for x in per_type.values()) / len(labels) if labels else 0.0,
        "per_type": per_type,
        "candidate_recall": reached / n_gold if n_gold and proposed is not None else None,
    }
