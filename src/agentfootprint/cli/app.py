"""The `agentfootprint` command (`afp` is the same): which commands there are."""

from __future__ import annotations

from typing import Annotated, Final

import typer

from agentfootprint.cli.demo.command import HELP as DEMO
from agentfootprint.cli.demo.command import demo
from agentfootprint.cli.doctor import HELP as DOCTOR
from agentfootprint.cli.doctor import doctor, installed_version
from agentfootprint.cli.failing import CANNOT
from agentfootprint.cli.front import Command, Front, streams_of
from agentfootprint.cli.importing import HELP as IMPORT
from agentfootprint.cli.importing import import_file
from agentfootprint.cli.show import HELP as SHOW
from agentfootprint.cli.show import show
from agentfootprint.cli.why import HELP as WHY
from agentfootprint.cli.why import why

__all__ = ["app", "main"]

HELP: Final = """\
Usage: agentfootprint [OPTIONS] COMMAND [ARGS]...     (afp is the same)

Find out which piece of context an agent's answer came from.

Start    demo      See it work: a wrong answer traced and proven, offline.
         doctor    Check this installation. Prints no secrets.

Explain  show      What happened in a recorded run.
         why       Which context reached the answer; --prove tests it.

Move     import    Open traces of other frameworks.

Options  --json  -q/--quiet  -v/--verbose  --color/--no-color  --version
Exit     0 done or yes   1 the check says no   2 can't: input or usage
"""

app = typer.Typer(
    cls=Front,
    help=HELP,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    invoke_without_command=True,
    subcommand_metavar="COMMAND [ARGS]...",
)


@app.callback()
def front(context: typer.Context, version: Annotated[bool, typer.Option("--version")] = False) -> None:
    """Find out which piece of context an agent's answer came from."""
    streams = streams_of(context)
    if version:
        streams.give(
            text=lambda: f"agentfootprint {installed_version()}",
            line=installed_version,
            document=lambda: {"format": "agentfootprint.version/1", "version": installed_version()},
        )
        raise typer.Exit
    if context.invoked_subcommand is None:
        streams.complain(context.get_help())
        raise typer.Exit(CANNOT)


app.command("demo", cls=Command, help=DEMO)(demo)
app.command("doctor", cls=Command, help=DOCTOR)(doctor)
app.command("show", cls=Command, help=SHOW)(show)
app.command("why", cls=Command, help=WHY)(why)
app.command("explain", cls=Command, help=WHY, hidden=True)(why)
app.command("import", cls=Command, help=IMPORT)(import_file)


def main() -> None:
    """Run the command that was typed, and exit with its code."""
    app()
