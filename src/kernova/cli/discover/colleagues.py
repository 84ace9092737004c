"""Options of ``kernova discover`` for several experts: invitations and planned overlap."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from kernova.cli.console import console

if TYPE_CHECKING:
    from kernova.web.invitations import Reach
    from kernova.workbench.discovery import Discovery


class OverlapPlan(NamedTuple):
    """Fraction of the rows that several experts are asked about, and how many experts."""

    fraction: float
    experts: int


def overlap_plan(fraction: float | None, experts: int | None) -> OverlapPlan | None:
    """Return the plan of the options, None to keep that of the project."""
    from kernova.errors import InputError

    if fraction is None and experts is not None:
        raise InputError(
            "--overlap-experts needs the fraction of the rows; pass it with --overlap, such as "
            "--overlap 0.1."
        )
    return None if fraction is None else OverlapPlan(fraction, experts or 2)


def plan_overlap(discovery: "Discovery", plan: OverlapPlan | None) -> None:
    """Record the plan in the project, unless it is in effect already."""
    if plan is None:
        return
    session = discovery.session
    present = session.results_.annotations.overlap
    wanted = OverlapPlan(round(1000 * plan.fraction), plan.experts)
    if (present.permille, present.experts) != wanted:
        session.review.plan_overlap(plan.fraction, plan.experts)


def invited_names(names: Sequence[str], *, terminal: bool) -> list[str]:
    """Return the distinct names of the experts to invite, normalised."""
    from kernova.discover.names import expert_name
    from kernova.errors import InputError

    if names and terminal:
        raise InputError(
            "--invite makes links to the page, and --terminal serves none; leave one of them out."
        )
    return list(dict.fromkeys(expert_name(name) or "" for name in names))


def print_invitations(links: Mapping[str, Sequence[str]], reach: "Reach") -> None:
    """Print the link of each invited expert, and who can open it."""
    from kernova.web.invitations import INVITATION_HOURS

    out = console()
    for name, [link, *others] in links.items():
        # An address that breaks over two lines cannot be clicked.
        other = f" (or {others[0]})" if others else ""
        out.print(f"For {name}: {link}{other}", markup=False, soft_wrap=True)
    if links:
        out.print(
            f"Send each link to its expert: it works once, within {INVITATION_HOURS} hours.",
            markup=False,
        )
    if links and not reach.is_for_others:
        out.print(
            "Other machines cannot open these links, because the page is served to this machine "
            "only: pass --host 0.0.0.0 with --token-file.",
            markup=False,
        )
