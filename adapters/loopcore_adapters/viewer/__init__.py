"""The view of a journal: a timeline of it, and a page that shows one."""

from loopcore_adapters.viewer.backtested import index, write_pages
from loopcore_adapters.viewer.changes import differences
from loopcore_adapters.viewer.known import Known
from loopcore_adapters.viewer.marks import Mark
from loopcore_adapters.viewer.page import page, page_of
from loopcore_adapters.viewer.seen import Seen, Shown
from loopcore_adapters.viewer.standing import standing
from loopcore_adapters.viewer.timeline import Point, Timeline, Wrote, timeline
from loopcore_adapters.viewer.words import counted, said_of, short, told

__all__ = [
    "Known",
    "Mark",
    "Point",
    "Seen",
    "Shown",
    "Timeline",
    "Wrote",
    "counted",
    "differences",
    "index",
    "page",
    "page_of",
    "said_of",
    "short",
    "standing",
    "timeline",
    "told",
    "write_pages",
]
