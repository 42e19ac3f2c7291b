"""Slow, obvious twin of the random subspace classifier: fitted trees walked in plain Python."""


def leaf(tree, code):
    """The node of one scikit-learn tree in which a code, a list of bits, ends."""
    node = 0
    while tree.children_left[node] != -1:
        goes_left = code[tree.feature[node]] <= tree.threshold[node]
        node = tree.children_left[node] if goes_left else tree.children_right[node]
    return node


def probabilities(ensemble, codes, labels, n_labels):
    """Mean label distribution of the leaves; `labels[c]` is the label of class c."""
    members = ensemble.estimators_
    subspaces = getattr(ensemble, "estimators_features_", [range(len(codes[0]))] * len(members))
    rows = []
    for code in codes:
        row = [0.0] * n_labels
        for member, subspace in zip(members, subspaces, strict=True):
            counts = member.tree_.value[leaf(member.tree_, [code[i] for i in subspace])][0]
            for c, count in zip(member.classes_, counts, strict=True):
                row[labels[int(c)]] += count / sum(counts) / len(members)
        rows.append(row)
    return rows
