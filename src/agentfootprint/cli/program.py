"""Which commands does `agentfootprint` (`afp` is the same) have? Loading this loads what they need."""

from __future__ import annotations

from typing import Annotated, Final

import typer

from agentfootprint.cli.audit import HELP as AUDIT
from agentfootprint.cli.audit import audit
from agentfootprint.cli.demo.command import HELP as DEMO
from agentfootprint.cli.demo.command import demo
from agentfootprint.cli.doctor import HELP as DOCTOR
from agentfootprint.cli.doctor import doctor
from agentfootprint.cli.errors import UsageError
from agentfootprint.cli.failing import CANNOT
from agentfootprint.cli.front import Command, Front, streams_of
from agentfootprint.cli.importing import HELP as IMPORT
from agentfootprint.cli.importing import import_file
from agentfootprint.cli.serving import HELP as SERVE
from agentfootprint.cli.serving import serve
from agentfootprint.cli.show import HELP as SHOW
from agentfootprint.cli.show import show
from agentfootprint.cli.version import tell_version
from agentfootprint.cli.why import HELP as WHY
from agentfootprint.cli.why import why

__all__ = ["HELP", "app"]

HELP: Final = """\
Usage: agentfootprint [OPTIONS] COMMAND [ARGS]...     (afp is the same)

Find out which piece of context an agent's answer came from.

Start    demo      See it work: a wrong answer traced and proven, offline.
         doctor    Check this installation. Prints no secrets.

Explain  show      What happened in a recorded run.
         why       Which context reached the answer; --prove tests it.

Check    audit     Verify a chain of records.

Move     import    Open traces of other frameworks.

Operate  serve     Put an agent behind a URL, in AG-UI.

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
        tell_version(streams)
        raise typer.Exit
    if context.invoked_subcommand is None:
        if streams.as_json:
            raise UsageError(
                "No command is named.", fix="Name one: agentfootprint show run.json. All: agentfootprint --help."
            )
        streams.complain(context.get_help())
        raise typer.Exit(CANNOT)


app.command("demo", cls=Command, help=DEMO)(demo)
app.command("doctor", cls=Command, help=DOCTOR)(doctor)
app.command("show", cls=Command, help=SHOW)(show)
app.command("why", cls=Command, help=WHY)(why)
app.command("explain", cls=Command, help=WHY, hidden=True)(why)
app.command("audit", cls=Command, help=AUDIT)(audit)
app.command("import", cls=Command, help=IMPORT)(import_file)
app.command("serve", cls=Command, help=SERVE)(serve)
