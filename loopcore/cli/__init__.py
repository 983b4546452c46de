"""The command line: `loopcore run`, `loopcore chat`."""

from loopcore.cli.commands import commands

__all__ = ["main"]


def main() -> None:
    """Do what the command line says."""
    commands(prog_name="loopcore")
