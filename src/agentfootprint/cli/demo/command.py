"""`agentfootprint demo`: a wrong answer, traced and proven, offline, in under three seconds."""

from __future__ import annotations

import time
import webbrowser
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, Self

import typer

from agentfootprint.cli.errors import FileAccessError
from agentfootprint.cli.front import streams_of
from agentfootprint.cli.reading import kilobytes, writing
from agentfootprint.explain import counted, folded, one_line, proof_summary, quoted, seconds_text

if TYPE_CHECKING:
    from agentfootprint.agent import RunResult
    from agentfootprint.cli.streams import Streams
    from agentfootprint.explain import Why

__all__ = ["HELP", "demo"]

HELP: Final = """\
Usage: agentfootprint demo [OPTIONS]

See it work: a refunds desk answers wrongly because of one planted fact. The
demo shows the answer, where the fact came from, and proves it by re-runs. It
needs no key and no network; the model is scripted, the database is real.

Output     --dir DIR         Folder for the files. Default agentfootprint-demo
           --open            Open the page in a browser.
           --json -q

Examples   agentfootprint demo
           agentfootprint demo --dir try --open
"""
FOLDER: Final = Path("agentfootprint-demo")
SUSPECT: Final = "vip-override-fact"
_TIME_COLUMN: Final = 77
_RUNS: Final = 96


@dataclass(frozen=True, slots=True)
class Files:
    """What the demo writes, and replaces when it runs again."""

    recording: Path
    page: Path
    database: Path

    @classmethod
    def in_folder(cls, folder: Path) -> Files:
        """The files of a folder, which is made if it is not there."""
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except (FileExistsError, NotADirectoryError) as error:
            raise FileAccessError(
                f"{str(folder)!r} is a file, and the demo needs a folder.",
                fix="Name another one with --dir.",
                where=str(folder),
            ) from error
        return cls(folder / "run.json", folder / "why.html", folder / "orders.db")


def demo(
    context: typer.Context,
    folder: Annotated[Path, typer.Option("--dir", metavar="DIR")] = FOLDER,
    open_page: Annotated[bool, typer.Option("--open")] = False,
) -> None:
    """See it work: a wrong answer traced and proven, offline."""
    from agentfootprint.cli.demo.desk import DECISION, EXPECTED, QUESTION, refunds_desk
    from agentfootprint.cli.demo.orders import Orders

    streams = streams_of(context)
    tell = _Story(streams)
    tell.say("A refund agent with one planted wrong fact. Scripted model, no network.\n")
    files = Files.in_folder(folder)
    with writing(folder):
        agent = refunds_desk(Orders.build(files.database))
    with tell.step("run") as step:
        result = agent.run_sync(QUESTION)
        step.did = _ran(result)
    with tell.step("why") as step:
        asked = result.why(of=SUSPECT)
        step.did = f"{counted(len(asked.sources), 'source')} reached the answer"
    with tell.step("prove") as step:
        proof = result.prove_sync(changed=DECISION, expected=EXPECTED, runs=_RUNS)
        step.did = f"{counted(proof.runs_used, 're-run')}, tools replayed from the recording"
    with writing(folder):
        result.recording.save(files.recording)
        proof.to_html(files.page)
    tell.say(f"\n{_answer(result.text, EXPECTED)}\n\n{proof.custody_text(SUSPECT)}\n")
    streams.give(
        text=lambda: "\n".join([*proof_summary(proof), "", _wrote(files)]),
        line=lambda: one_line(proof),
        document=lambda: _document(result, proof, files, expected=EXPECTED),
    )
    if open_page:
        webbrowser.open(files.page.resolve().as_uri())


class _Story:
    """What the demo says while it goes on; nothing in `-q` and with JSON."""

    def __init__(self, streams: Streams) -> None:
        self._streams = streams

    def say(self, text: str) -> None:
        if self._streams.choices.quiet == 0:
            self._streams.say(text)

    def step(self, name: str) -> _Step:
        return _Step(self, name)


class _Step:
    """One line of the story: what was done, and how long it took."""

    def __init__(self, story: _Story, name: str) -> None:
        self._story = story
        self._name = name
        self.did = ""

    def __enter__(self) -> Self:
        self._started = time.perf_counter()
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            took = seconds_text(time.perf_counter() - self._started)
            said = f"{self._name:<7}{self.did}"
            self._story.say(said + took.rjust(_TIME_COLUMN - len(said)))


def _ran(result: RunResult[Any]) -> str:
    return ", ".join(
        (
            counted(result.iterations, "iteration"),
            counted(len(result.tool_calls), "tool call"),
            f"{counted(len(result.recording.events), 'event')} recorded",
        )
    )


def _answer(text: str, expected: str) -> str:
    lines = folded(quoted(text), 80, start="ANSWER ", rest=" " * 7)
    return "\n".join([*lines, f"       expected: {expected}"])


def _wrote(files: Files) -> str:
    hints = ((files.recording, "agentfootprint show <file>"), (files.page, "open it in a browser"))
    width = max(len(str(path)) for path, _ in hints)
    lines = [f"{path!s:<{width}}  {kilobytes(path.stat().st_size):>6}   {hint}" for path, hint in hints]
    return "wrote  " + "\n       ".join(lines)


def _document(result: RunResult[Any], proof: Why, files: Files, *, expected: str) -> dict[str, Any]:
    return {
        "format": "agentfootprint.demo/1",
        "answer": result.text,
        "expected": expected,
        "run": {
            "iterations": result.iterations,
            "toolCalls": len(result.tool_calls),
            "events": len(result.recording.events),
        },
        "why": proof.to_wire(),
        "wrote": [str(files.recording), str(files.page)],
    }
