"""Slow, obvious twins of the views of context: loops over the tokens of a Doc."""

import naive_paths


def view(name, doc, found, row, *, blind, window):
    """(edge, word) of each node of one view of the candidate `row` of `found`."""
    arguments = {
        role: found.entities[j] for role, j in zip(found.roles, row, strict=True) if j >= 0
    }

    def shown(token):
        labels = [span.label_ for span in found.entities if span.start <= token.i < span.end]
        return f"label={labels[0]}" if blind and labels else f"lemma={token.lower_}"

    if name in ("between", "words"):
        return with_arguments(doc, arguments, shown, blind, all_words=name == "words")
    if name == "dependents":
        return dependents(doc, arguments, found.roles, shown)
    first = min(arguments.values(), key=lambda span: span.start)
    last = max(arguments.values(), key=lambda span: span.end)
    if name == "before":
        tokens = [t for t in doc[first.start].sent if t.i < first.start][-window:]
    else:
        tokens = [t for t in doc[last.end - 1].sent if t.i >= last.end][:window]
    return [("dep=", shown(token)) for token in tokens]


def with_arguments(doc, arguments, shown, blind, all_words):
    """Words from the first argument to the last one, or of all sentences that these touch."""
    start = min(span.start for span in arguments.values())
    end = max(span.end for span in arguments.values())
    if all_words:
        start, end = doc[start].sent.start, doc[end - 1].sent.end
    nodes = []
    for token in doc[start:end]:
        for role, span in arguments.items():
            if span.start == token.i:
                word = f"label={span.label_}" if blind else f"lemma={span.root.lower_}"
                nodes.append((f"role={role}", word))
        if not any(span.start <= token.i < span.end for span in arguments.values()):
            nodes.append(("dep=", shown(token)))
    return nodes


def dependents(doc, arguments, roles, shown):
    """Children of the tokens on the paths: from head to tail, or from the first to each.

    The first is what stands for the first of more than two roles if that is absent.
    """
    first, *_ = spans = list(arguments.values())
    pairs = [tuple(spans)]
    if len(roles) > 2:
        others = [span for role, span in arguments.items() if role != roles[0]]
        pairs = [(first, span) for span in (first, *others)]
    governors = [token.head.i for token in doc]
    nodes = []
    for a, b in pairs:
        path = [token for token, _ in naive_paths.path(governors, a.root.i, b.root.i)]
        own = {*path, *range(a.start, a.end), *range(b.start, b.end)}
        nodes += [
            (f"dep={child.dep_}>", shown(child))
            for token in path
            for child in doc
            if child.head.i == token and child.i not in own
        ]
    return nodes
