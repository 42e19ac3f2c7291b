"""Slow, obvious reading of standoff lines that have no mistakes."""

from spacy_klsh.pipeline.relations import read_records


def mentions(lines):
    """Label and pieces of every T line by id."""
    found = {}
    for line in lines:
        if line[0] == "T":
            id, middle, _ = line.split("\t")
            label, offsets = middle.split(" ", 1)
            pieces = [tuple(int(offset) for offset in p.split(" ")) for p in offsets.split(";")]
            found[id] = (label, pieces)
    return found


def relations(lines):
    """Id, label and arguments of every E and R line: the ids of mentions by role."""
    triggers = {}
    for line in lines:
        if line[0] == "E":
            id, event, *_ = line.split()
            triggers[id] = event.split(":")[1]
    found = []
    for line in lines:
        if line[0] == "E":
            id, event, *pairs = line.split()
            label = event.split(":")[0]
            pairs = ["trigger:" + triggers[id], *pairs]
        elif line[0] == "R":
            id, label, *pairs = line.replace("Arg1:", "head:").replace("Arg2:", "tail:").split()
        else:
            continue
        named = {pair.split(":")[0] for pair in pairs}
        arguments = {}
        for pair in pairs:
            role, target = pair.split(":")
            number = 2
            while role in arguments:
                numbered = role.strip("23456789") + str(number)
                if numbered not in named:
                    role = numbered
                number += 1
            arguments[role] = triggers.get(target, target)
        found.append((id, label, arguments))
    return found


def modifications(lines):
    """Id, label, target and value of every M and A line."""
    found = []
    for line in lines:
        if line[0] in "MA":
            id, label, target, value = [*line.split(), ""][:4]
            found.append((id, label, target, value))
    return found


def equivalences(lines):
    """Label and ids of every * line."""
    return [(line.split()[1], line.split()[2:]) for line in lines if line[0] == "*"]


def stored_relations(doc):
    """The Doc's relations in the same form."""
    ids = doc.user_data.get("relation_ids", ())
    return [
        (id, record.label, {argument.role: argument.id for argument in record.arguments})
        for id, record in zip(ids, read_records(doc), strict=True)
    ]


def check(doc, lines):
    """Fail unless the Doc has what the lines say."""
    wanted = mentions(lines)
    pieces = {kept["id"]: kept["pieces"] for kept in doc.user_data.get("pieces", ())}
    found = {}
    for span in doc.spans["entities"]:
        whole = wanted[span.id_][1]
        start, end = min(start for start, _ in whole), max(end for _, end in whole)
        assert span.text.strip() == doc.text[start:end].strip()
        own = pieces.get(span.id_, [(start, end)])
        found[span.id_] = (span.label_, [tuple(piece) for piece in own])
    assert found == wanted
    assert stored_relations(doc) == relations(lines)
    stored = doc.user_data.get("modifications", ())
    assert [tuple(each.values()) for each in stored] == modifications(lines)
    stored = doc.user_data.get("equivalences", ())
    assert [tuple(each.values()) for each in stored] == equivalences(lines)
