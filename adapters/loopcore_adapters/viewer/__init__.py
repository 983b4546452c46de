"""The view of a journal: a timeline of it, and a page that shows one."""

from loopcore_adapters.viewer.page import page, page_of
from loopcore_adapters.viewer.timeline import Point, Timeline, Wrote, timeline

__all__ = ["Point", "Timeline", "Wrote", "page", "page_of", "timeline"]
