"""Doc -> Candidates with named roles: a trigger, its participants, what else an event has."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import chain, combinations, islice, pairwise
from math import factorial, perm
from typing import Any, NamedTuple

import numpy as np
from spacy.tokens import Doc, Span

from .candidates import Candidates
from .nearby import NearbyEntities
from .policy import without

MAX_ROLES = 8
MAX_COUNT = 2**63 - 1  # what a saved Doc can hold


class _Window(NamedTuple):
    """An entity and those behind it that are near.

    `ways` holds for each set of roles, as bits, the number of ways to fill it with these.
    """

    first: int
    near: Sequence[int]
    ways: Sequence[int]


class _Filling(NamedTuple):
    """Roles to fill: one by the first entity of a window, the others by those behind it.

    `bits` are the others.
    """

    lead: int
    others: tuple[int, ...]
    bits: int

    @classmethod
    def of(cls, lead: int, others: Collection[int]) -> _Filling:
        """The filling of these roles."""
        return cls(lead, tuple(sorted(others)), _bits(others))


@dataclass(frozen=True, kw_only=True)
class RoleCandidates(NearbyEntities):
    """Choices of two or more entities near each other, a different one for each role.

    The first entity of a candidate in the document must be near each of its others. If
    there are too many candidates, those of fewer entities stay, and of these the ones that
    begin earlier. They are given in the order of their roles: all of the first trigger,
    then all of the second.

    Parameters
    ----------
    roles : mapping of role to list of entity labels
        The roles in their order, at most 8, and the labels of the entities that may fill
        them; no labels: any. The paths of a candidate begin at its first role.
    optional : list of str
        Roles that a candidate may lack.
    interchangeable : list of lists of str
        Roles that mean the same, like ``["Theme", "Theme2"]``: each choice of entities for
        them is proposed once, in document order; their labels must be the same.
    spans_key, max_tokens, max_sentences, max_candidates, overlapping, same_text
        See `NearbyEntities`; what is cut is counted without being looked at.

    Raises
    ------
    ValueError
        If `optional` or `interchangeable` do not go with `roles`, or a limit is below 1.
    """

    roles: Mapping[str, Sequence[str]]
    optional: Sequence[str] = ()
    interchangeable: Sequence[Sequence[str]] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        names = list(self.roles)
        if not 2 <= len(names) <= MAX_ROLES or "" in names:
            raise ValueError(f"roles are {names}; name 2 to {MAX_ROLES} of them.")
        for name, labels in self.roles.items():
            if isinstance(labels, str):
                raise ValueError(f"the role {name} has the labels {labels!r}; give a list of them.")
        grouped = list(chain.from_iterable(self.interchangeable))
        unknown = sorted({*self.optional, *grouped}.difference(names))
        if unknown:
            raise ValueError(
                f"optional or interchangeable roles {unknown} are not among the roles {names}; add "
                "them to roles with the labels of their entities."
            )
        if len(set(grouped)) < len(grouped):
            raise ValueError(
                f"interchangeable is {self.interchangeable}; name a role in one group, once."
            )
        for group in self.interchangeable:
            self._check_group(list(group), names)

    def _check_group(self, group: list[str], names: list[str]) -> None:
        places, optional = map(names.index, group), (name in self.optional for name in group)
        falling = (a > b for values in (places, optional) for a, b in pairwise(values))
        if len(group) < 2 or any(falling):
            raise ValueError(
                f"interchangeable holds {group}; give two or more roles in the order of roles, the "
                "optional ones last."
            )
        labels = [sorted(set(self.roles[name])) for name in group]
        if any(other != labels[0] for other in labels):
            raise ValueError(
                f"the interchangeable roles {group} have the entity labels {labels}; give all of "
                "them the same."
            )

    @property
    def settings(self) -> dict[str, Any]:
        """What a trained model depends on."""
        return {
            "roles": [[role, sorted(labels)] for role, labels in self.roles.items()],
            "optional": sorted(self.optional),
            "interchangeable": sorted(map(list, self.interchangeable)),
        }

    def __call__(self, doc: Doc, *, ordered: bool = True) -> Candidates:
        """Candidates of `doc`.

        Raises
        ------
        ValueError
            If `ordered` is false: roles that are named have an order.
        """
        if not ordered:
            raise ValueError(
                f"the roles {', '.join(self.roles)} are told apart by name; set direction = "
                '"ordered", and name those that mean the same as interchangeable.'
            )
        entities = self.entities(doc)
        takes = [self._roles_of(span.label_) for span in entities]
        skipped = Counter(entity_labels=takes.count(0))
        windows = list(self._windows(doc, entities, takes, skipped))
        rows = sorted(islice(self._choices(windows, takes), self.max_candidates))
        skipped["max_candidates"] = min(self._count(windows, takes) - len(rows), MAX_COUNT)
        arguments = np.array(rows, np.int32).reshape(len(rows), len(self.roles))
        found = Candidates(tuple(self.roles), entities, arguments, dict(+skipped))
        return without([found], self.dropped)[0]

    def _roles_of(self, label: str) -> int:
        """Roles that an entity may fill, as bits."""
        fits = (not labels or label in labels for labels in self.roles.values())
        return sum(1 << role for role, fit in enumerate(fits) if fit)

    @cached_property
    def _groups(self) -> tuple[tuple[int, ...], ...]:
        places = {name: role for role, name in enumerate(self.roles)}
        return tuple(tuple(places[name] for name in group) for group in self.interchangeable)

    @cached_property
    def _before(self) -> dict[int, int]:
        """The interchangeable role before a role, whose entity stands before its own."""
        return {role: before for group in self._groups for before, role in pairwise(group)}

    @cached_property
    def _fillings(self) -> list[list[_Filling]]:
        """Ways to hand out two roles, three, and so on; of interchangeable ones the first."""
        n, before = len(self.roles), self._before
        required = {role for role, name in enumerate(self.roles) if name not in self.optional}
        found = []
        for size in range(2, n + 1):
            filled = [
                roles
                for roles in combinations(range(n), size)
                if required.issubset(roles) and all(before.get(r, r) in roles for r in roles)
            ]
            leads = [(lead, roles) for roles in filled for lead in roles if lead not in before]
            found.append([_Filling.of(lead, set(roles) - {lead}) for lead, roles in leads])
        return found

    def _windows(
        self, doc: Doc, entities: Sequence[Span], takes: Sequence[int], skipped: Counter[str]
    ) -> Iterator[_Window]:
        useful = [i for i, roles in enumerate(takes) if roles]
        windows = self.near(doc, [entities[i] for i in useful], skipped)
        for i, places in zip(useful, windows, strict=True):
            near = [useful[place] for place in places]
            counts = tuple(sorted(Counter(takes[j] for j in near).items()))
            yield _Window(i, near, _count_ways(counts, len(self.roles), self._groups))

    def _count(self, windows: Sequence[_Window], takes: Sequence[int]) -> int:
        """Number of all choices."""
        return sum(
            window.ways[filling.bits]
            for window in windows
            for filling in chain.from_iterable(self._fillings)
            if takes[window.first] >> filling.lead & 1
        )

    def _choices(
        self, windows: Sequence[_Window], takes: Sequence[int]
    ) -> Iterator[tuple[int, ...]]:
        """Entities of each role, -1 for none; one by one, as they are asked for."""
        for fillings in self._fillings:
            for first, near, ways in windows:
                for lead, others, bits in fillings:
                    if takes[first] >> lead & 1 and ways[bits]:
                        pools = [[j for j in near if takes[j] >> role & 1] for role in others]
                        row = [-1] * len(self.roles)
                        row[lead] = first
                        yield from self._filled(row, others, pools)

    def _filled(
        self, row: list[int], roles: Sequence[int], pools: Sequence[Sequence[int]]
    ) -> Iterator[tuple[int, ...]]:
        """`row` with different entities of the pools in the roles."""
        if not roles:
            yield tuple(row)
            return
        role = roles[0]
        before = row[self._before[role]] if role in self._before else -1
        for j in pools[0]:
            if j > before and j not in row:
                row[role] = j
                yield from self._filled(row, roles[1:], pools[1:])
        row[role] = -1


def _bits(roles: Collection[int]) -> int:
    return sum(1 << role for role in roles)


@lru_cache(maxsize=4096)
def _count_ways(
    counts: tuple[tuple[int, int], ...], n_roles: int, groups: tuple[tuple[int, ...], ...]
) -> tuple[int, ...]:
    """Ways to fill exactly the roles of each set (as bits) with different entities.

    Parameters
    ----------
    counts : tuple of (int, int)
        Sets of roles, as bits, and the number of entities that may fill these.
    groups : tuple of tuples of int
        Interchangeable roles: their entities can change places without making another way.
    """
    ways = [1] + [0] * ((1 << n_roles) - 1)
    for takes, n in counts:
        for roles in range(len(ways) - 1, 0, -1):  # smaller sets are still without these entities
            part = roles & takes
            while part:
                ways[roles] += ways[roles ^ part] * perm(n, part.bit_count())
                part = (part - 1) & roles & takes
    for group in map(_bits, groups):
        ways = [n // factorial((roles & group).bit_count()) for roles, n in enumerate(ways)]
    return tuple(ways)
