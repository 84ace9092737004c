"""Routes of several experts: names, invitations, undo, overlap, agreement and disputed rows."""

from dataclasses import dataclass
from typing import Annotated, Final, Literal

from fastapi import APIRouter, Query
from pydantic import Field, StrictStr
from starlette.responses import Response

from kernova.discover.names import category_name, expert_name
from kernova.web.invitations import Invitations, InvitationShown
from kernova.web.routes.queue import Queue
from kernova.web.routes.replies import SAVED, json_reply
from kernova.web.schemas import EntryBody, Limit, Offset, RequestBody, Whole, reply_model
from kernova.web.visitors import check_expert, check_host, visitor
from kernova.workbench import Workbench
from kernova.workbench.colleagues.browsers import Doubt
from kernova.workbench.colleagues.measured import Agreement, AgreementReply
from kernova.workbench.colleagues.overlap import OverlapReply
from kernova.workbench.colleagues.settling import Disputes, DisputesReply
from kernova.workbench.colleagues.undoing import Undoing, UndoReply
from kernova.workbench.workbench import ExpertReply

_FOR_OTHERS: Final = (
    "Other machines can reach this page: send each colleague a link of their own. It works once."
)
_FOR_THIS: Final = (
    "Other machines cannot reach this page, because it is served to this machine only. To invite "
    "colleagues on other machines, start kernova with --host 0.0.0.0 and --token-file, and "
    "--tls-cert to encrypt the connection. A link made now works in another browser on this "
    "machine, or through an SSH tunnel."
)

ExpertName = Annotated[
    StrictStr, Field(min_length=1, max_length=100, description="Name of the expert.")
]
IsSame = Annotated[
    bool, Field(description="Whether a doubt about the name has been answered: it is right.")
]
QueryExpert = Annotated[
    str | None, Query(min_length=1, max_length=100, description="Name of the expert.")
]
QueryCategory = Annotated[
    str | None,
    Query(min_length=1, max_length=200, description="Only rows with an opinion for this category."),
]


class NewExpert(RequestBody):
    """An expert who joins."""

    name: ExpertName
    is_same: IsSame = False


class NewInvitation(RequestBody):
    """An expert who is invited."""

    name: ExpertName
    is_same: IsSame = False


class Revocation(RequestBody):
    """An expert who is no longer invited."""

    name: ExpertName


class Undo(EntryBody):
    """Undo of an entry of the expert, by default the last."""

    entry: Annotated[
        Whole | None, Field(description="Number of the entry; by default the last one.")
    ] = None
    others: Annotated[
        list[Whole],
        Field(
            default_factory=list,
            max_length=1000,
            description="Numbers of later entries that depend on it, which may be undone before, "
            "whoever made them: those that GET /api/undo lists.",
        ),
    ]


class OverlapWanted(EntryBody):
    """A plan for rows that several experts are asked about."""

    fraction: Annotated[
        float, Field(ge=0, le=1, strict=True, description="Fraction of the rows; 0 for none.")
    ]
    experts: Annotated[
        Literal[2, 3, 4, 5], Field(description="Number of experts for each of these rows.")
    ] = 2


@dataclass(frozen=True)
class InvitationsReply:
    """The invitations of this server."""

    me: Annotated[str | None, "The name to which the browser that asks is bound by an invitation."]
    can_invite: Annotated[bool, "Whether it may invite others."]
    is_for_others: Annotated[bool, "Whether other machines can reach the page."]
    words: Annotated[str, "What that means for invitations, in sentences."]
    invitations: list[InvitationShown]


@dataclass(frozen=True)
class InvitationReply:
    """A new invitation."""

    name: str
    doubt: Annotated[Doubt | None, "Why the name may be the wrong one; then there is no link."]
    links: Annotated[list[str], "The same link by several addresses of the server, the best first."]


def expert_routes(
    router: APIRouter, workbench: Workbench, queue: Queue, invitations: Invitations
) -> None:
    """Register the routes of names and invitations."""

    @router.post("/experts", status_code=201, response_model=reply_model(ExpertReply))
    async def join(body: NewExpert) -> Response:
        """Register an expert under a name; a known name resumes that expert's work.

        If the name may be the wrong one, the reply has the doubt, and nobody is registered until
        the request is repeated with ``is_same``, or with another name.
        """
        check_expert(expert_name(body.name))
        browser, bound = visitor()
        invited = [name for name in invitations.names if name != bound]
        is_same = body.is_same or bound is not None
        reply = await queue.run(
            workbench.join, body.name, browser, is_same=is_same, invited=invited
        )
        return json_reply(reply, 201)

    @router.get("/invitations", response_model=reply_model(InvitationsReply))
    async def invited() -> Response:
        """Return the invitations, without their links, and who can reach the page."""
        name, is_for_others = visitor().name, invitations.reach.is_for_others
        return json_reply(
            InvitationsReply(
                me=name,
                can_invite=name is None,
                is_for_others=is_for_others,
                words=_FOR_OTHERS if is_for_others else _FOR_THIS,
                invitations=invitations.shown() if name is None else [],
            )
        )

    @router.post("/invitations", status_code=201, response_model=reply_model(InvitationReply))
    async def invite(body: NewInvitation) -> Response:
        """Make a link that lets one expert in, once, under this name.

        An earlier link for the name becomes void. The link is shown in this reply only.
        """
        check_host()
        name = expert_name(body.name) or ""
        if name not in invitations.names and not body.is_same:
            known = [*await queue.run(workbench.expert_names), *invitations.names]
            doubt = workbench.browsers.doubt(name, "an invitation", known)
            if doubt is not None:
                return json_reply(InvitationReply(name, doubt, []), 201)
        return json_reply(InvitationReply(name, None, invitations.invite(name)), 201)

    @router.post("/invitations/revoke", response_model=reply_model(InvitationsReply))
    async def revoke(body: Revocation) -> Response:
        """Make an expert's link void, and log out the browsers that it let in."""
        check_host()
        invitations.revoke(expert_name(body.name) or "")
        return await invited()


def colleague_routes(router: APIRouter, workbench: Workbench, queue: Queue) -> None:
    """Register the routes of undo and planned overlap."""
    undoing = workbench.part(Undoing)

    @router.post("/undo", response_model=SAVED)
    async def undo(body: Undo) -> Response:
        """Undo the expert's last entry of any kind, or a given one; can be repeated.

        Without a name, the last entry of all experts is undone. If a later entry depends on it,
        GET /api/undo lists what can be done.
        """
        if body.entry is None and not body.others:
            return await queue.save(workbench.corrections.undo(body.expert, body.key))
        return await queue.save(undoing.undo(body.expert, body.key, body.entry, body.others))

    @router.get("/undo", response_model=reply_model(UndoReply))
    async def ways_to_undo(expert: QueryExpert = None) -> Response:
        """Return whether the expert's last entry can be undone, and what can be done if not."""
        name = expert_name(expert)
        return json_reply(await queue.run(undoing.ways, name))

    @router.post("/overlap", response_model=SAVED)
    async def plan_overlap(body: OverlapWanted) -> Response:
        """Plan that several experts are asked about a fraction of the rows."""
        return await queue.save(
            workbench.corrections.plan_overlap(body.expert, body.fraction, body.experts, body.key)
        )

    @router.get("/overlap", response_model=reply_model(OverlapReply))
    def planned_overlap(expert: QueryExpert = None) -> Response:
        """Return the planned overlap, and how much of it is done."""
        return json_reply(workbench.overlap.reply(expert_name(expert)))


def agreement_routes(router: APIRouter, workbench: Workbench) -> None:
    """Register the routes of agreement and of disputed rows."""

    @router.get("/agreement", response_model=reply_model(AgreementReply))
    def agreement(
        first: Annotated[
            str | None, Query(max_length=100, description="Expert of the lines of the table.")
        ] = None,
        second: Annotated[
            str | None, Query(max_length=100, description="Expert of its columns.")
        ] = None,
    ) -> Response:
        """Return the agreement of the experts, with intervals; by default a table of all."""
        return json_reply(workbench.part(Agreement).reply(first, second))

    @router.get("/disputes", response_model=reply_model(DisputesReply))
    def disputes(
        first: QueryCategory = None,
        second: QueryCategory = None,
        limit: Limit = 20,
        offset: Offset = 0,
    ) -> Response:
        """Return rows that experts label differently, with all opinions and with examples."""
        names = [category_name(name) for name in (first, second) if name is not None]
        return json_reply(workbench.part(Disputes).reply(names, limit, offset))
