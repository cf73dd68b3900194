"""What every command has in common: the options that stand anywhere, the form of errors, the exit code, the help.

Help texts are written by hand, because they are read more often than they change; a test compares each with the
options its command really has.
"""

from __future__ import annotations

import sys
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import Any, cast

import typer
from typer.core import TyperCommand, TyperGroup

from agentfootprint.cli.failing import DONE, report_failure
from agentfootprint.cli.streams import Streams, read_choices

__all__ = ["Command", "Front", "streams_of"]

PROGRAM = "agentfootprint"


@contextmanager
def _interrupts_said(streams: Streams) -> Generator[None]:
    """Say that the command was interrupted, while it can still be told from a command that says so itself."""
    try:
        yield
    except KeyboardInterrupt as error:
        raise typer.Exit(report_failure(streams, error)) from error


class Command(TyperCommand):
    """A command whose help is printed as it was written."""

    def get_help(self, ctx: object) -> str:
        """The help text, without the line ends that would follow it."""
        del ctx
        return (self.help or "").rstrip()


class Front(TyperGroup):
    """The program itself: reads the common options, runs a command, and turns whatever happens into an exit code."""

    def get_help(self, ctx: object) -> str:
        """The overview of the commands."""
        del ctx
        return (self.help or "").rstrip()

    def invoke(self, ctx: Any) -> Any:  # noqa: ANN401  as the base has it
        """Run the command; the base would end it without a word when it is interrupted."""
        with _interrupts_said(ctx.obj):
            return super().invoke(ctx)

    def make_context(self, *args: Any, **extra: Any) -> Any:  # noqa: ANN401  as the base has it
        """Read the words of the command line, which imports much; interrupted, say so."""
        with _interrupts_said(extra["obj"]):
            return super().make_context(*args, **extra)

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        windows_expand_args: bool = True,
        **extra: Any,  # noqa: ANN401  as the base has it
    ) -> int:
        """Run one command line.

        Args:
            args: The words after the program's name; the process's own when not given.
            prog_name: Ignored: the program has one name, however it was started.
            complete_var: For shell completion.
            standalone_mode: Whether to exit with the code instead of returning it.
            windows_expand_args: For the base.
            extra: For the base.
        """
        del prog_name
        choices, words = read_choices(sys.argv[1:] if args is None else args)
        streams = Streams(choices)
        code = self._run(
            streams, words, complete_var=complete_var, windows_expand_args=windows_expand_args, obj=streams, **extra
        )
        if standalone_mode:
            sys.exit(code)
        return code

    def _run(self, streams: Streams, words: list[str], **given: Any) -> int:  # noqa: ANN401  as the base has it
        try:
            ended = super().main(words, PROGRAM, standalone_mode=False, **given)
        except SystemExit:
            raise
        except BaseException as error:  # noqa: BLE001  whatever it is, it is said in one form and has an exit code
            return report_failure(streams, error)
        return ended if isinstance(ended, int) else DONE


def streams_of(context: typer.Context) -> Streams:
    """The streams of the command that runs."""
    return cast("Streams", context.find_root().obj)
