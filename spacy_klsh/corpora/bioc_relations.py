"""Relations of BioC XML: between annotations, with roles, or between concepts."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

from .documents import Link
from .lines import parse_each
from .links import BINARY_ROLES, concept_links, number_roles
from .report import Report

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

Scope: TypeAlias = "Mapping[str, Sequence[Element]]"


def infons(element: Element, *without: str) -> list[tuple[str, str]]:
    """Keys and values of infons with other keys."""
    found = [
        (infon.get("key", ""), (infon.text or "").strip()) for infon in element.findall("infon")
    ]
    return [(key, value) for key, value in found if key not in without]


@dataclass(frozen=True, slots=True)
class RelationReader:
    """Relations of one document.

    `rows` and `concepts` are of the mentions that are there, `ids` of all relations.
    """

    where: str
    report: Report
    rows: Mapping[Element, int]
    concepts: Sequence[str]
    ids: set[str | None]

    def links(self, element: Element, outer: Sequence[Scope] = ()) -> Iterator[Link]:
        """Relations in the element and the passages and sentences in it."""
        own: defaultdict[str, list[Element]] = defaultdict(list)
        for annotation in element.iter("annotation"):
            if id := annotation.get("id"):
                own[id].append(annotation)
        scopes = (own, *outer)
        relations = [
            (f"{self.where}: relation {relation.get('id')!r}", relation)
            for relation in element.findall("relation")
        ]
        parse = partial(self.relation, scopes=scopes)
        for links in parse_each(relations, parse, self.report, reason="bad_relations"):
            yield from links
        for child in element:
            if child.tag in ("passage", "sentence"):
                yield from self.links(child, scopes)

    def relation(self, relation: Element, place: str, scopes: Sequence[Scope]) -> list[Link]:
        """One link for a relation with nodes, any number for one between concepts."""
        named = dict(infons(relation))
        label = named.get("relation") or named.get("type")
        if not label:
            raise ValueError("no infon with key relation or type; expected its name in one")
        id = relation.get("id", "")
        nodes = relation.findall("node")
        if nodes:
            arguments = self.arguments(nodes, f"{place} {label}", scopes)
            return [Link(label, arguments, id=id)] if arguments else []
        related = [value for _, value in infons(relation, "relation", "type")][:2]
        if len(related) < 2:
            raise ValueError(f"no nodes and {len(related)} other infons; expected two concepts")
        return concept_links(label, related, self.concepts, place, self.report, id=id)

    def arguments(
        self, nodes: Sequence[Element], place: str, scopes: Sequence[Scope]
    ) -> dict[str, int]:
        """Rows by role; empty, and counted, if one of them is not there."""
        rows = []
        for node in nodes:
            id = node.get("refid", "")
            found = next((scope[id] for scope in scopes if id in scope), [])
            if not found and id in self.ids:
                self.report.change("nested_relations", f"{place} of {id!r}")
                return {}
            if len(found) != 1:
                raise ValueError(f"{len(found)} annotations have the id {id!r}; expected one")
            rows.append(self.rows.get(found[0]))
        kept = [row for row in rows if row is not None]
        if len(kept) < len(rows):
            self.report.change("lost_relations", place)
            return {}
        return number_roles(zip(_roles(nodes), kept, strict=True))


def _roles(nodes: Sequence[Element]) -> list[str]:
    roles = [BINARY_ROLES.get(role, role) for role in (node.get("role", "") for node in nodes)]
    if len(roles) == 2 and ("" in roles or roles[0] == roles[1]):
        return list(BINARY_ROLES.values())
    if "" in roles:
        raise ValueError(f"the roles of its {len(roles)} nodes are {roles}; expected one for each")
    return roles
