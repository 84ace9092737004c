"""HTTP routes of the workbench, one module for each subject.

A new view adds a module here, which takes its part of the workbench with
``workbench.part(NewView)``, declares its request bodies itself and its replies with
``reply_model``.
"""

from fastapi import APIRouter

from kernova.web.invitations import Invitations
from kernova.web.routes.annotations import annotation_routes
from kernova.web.routes.asking import category_routes, correction_routes, question_routes
from kernova.web.routes.batches import batch_routes
from kernova.web.routes.colleagues import agreement_routes, colleague_routes, expert_routes
from kernova.web.routes.files import download_routes, media_routes, spectrogram_routes
from kernova.web.routes.importing import import_routes
from kernova.web.routes.learning import learning_routes
from kernova.web.routes.looking import map_routes, overview_routes, row_routes
from kernova.web.routes.queue import Queue
from kernova.web.routes.replies import new_router
from kernova.web.routes.review import review_routes
from kernova.web.routes.tables import comparison_routes, table_routes
from kernova.workbench import Workbench

__all__ = ["Queue", "all_routes"]


def all_routes(workbench: Workbench, invitations: Invitations) -> list[APIRouter]:
    """Return the routers of all routes."""
    asking, looking, files, review = map(new_router, ("asking", "looking", "files", "review"))
    colleagues = new_router("colleagues")
    queue = Queue(workbench)
    for section in (question_routes, correction_routes, category_routes, annotation_routes):
        section(asking, workbench, queue)
    import_routes(asking, workbench, queue)
    overview_routes(looking, workbench, queue)
    for view in (row_routes, comparison_routes, table_routes, map_routes, learning_routes):
        view(looking, workbench)
    batch_routes(looking, workbench)
    review_routes(review, workbench, queue)
    expert_routes(colleagues, workbench, queue, invitations)
    colleague_routes(colleagues, workbench, queue)
    agreement_routes(colleagues, workbench)
    media_routes(files, workbench)
    spectrogram_routes(files, workbench)
    download_routes(files, workbench)
    return [asking, looking, review, colleagues, files]
