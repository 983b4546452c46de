"""`view`: a journal with a time slider, in the terminal or as a page."""

from loopcore.cli.view.command import view_

__all__ = ["view_"]
