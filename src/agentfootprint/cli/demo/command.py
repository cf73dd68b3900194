"""`agentfootprint demo`: a wrong answer, traced and proven, offline, in under three seconds."""

from __future__ import annotations

import time
import webbrowser
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, Self

import typer

from agentfootprint.cli.errors import FileAccessError
from agentfootprint.cli.failing import INTERRUPTED
from agentfootprint.cli.front import streams_of
from agentfootprint.cli.reading import kilobytes, writing
from agentfootprint.errors import AgentFootprintError
from agentfootprint.explain import counted, escaped, folded, one_line, proof_summary, quoted, seconds_text

if TYPE_CHECKING:
    from agentfootprint.agent import RunResult
    from agentfootprint.cli.demo.models import AskedModel
    from agentfootprint.cli.streams import Streams
    from agentfootprint.explain import Why

__all__ = ["HELP", "demo"]

HELP: Final = """\
Usage: agentfootprint demo [OPTIONS]

See it work: a refunds desk answers wrongly because of one planted fact. The
demo shows the answer, where the fact came from, and proves it by re-runs. It
needs no key and no network; the model is scripted, the database is real. A
real model may not fall for the fact; then the demo says so.

Model      --model PROVIDER:MODEL    Ask this model instead of the scripted
                             one, as in openai:gpt-4o-mini; mock, anthropic,
                             openai, azure, ollama.
           --yes             No question about the cost of a real model.

Output     --dir DIR         Folder for the files. Default agentfootprint-demo
           --open            Open the page in a browser.
           --json -q

Examples   agentfootprint demo
           agentfootprint demo --dir try --open
"""
FOLDER: Final = Path("agentfootprint-demo")
SUSPECT: Final = "vip-override-fact"
_TIME_COLUMN: Final = 77


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
    model: Annotated[str | None, typer.Option("--model", metavar="PROVIDER:MODEL")] = None,
    yes: Annotated[bool, typer.Option("--yes")] = False,
    folder: Annotated[Path, typer.Option("--dir", metavar="DIR")] = FOLDER,
    open_page: Annotated[bool, typer.Option("--open")] = False,
) -> None:
    """See it work: a wrong answer traced and proven, offline."""
    from agentfootprint.agent import RunCheckpointError
    from agentfootprint.cli.demo.desk import EXPECTED, QUESTION, decision_in, refunds_desk
    from agentfootprint.cli.demo.models import agreed, find_model
    from agentfootprint.cli.demo.orders import Orders

    streams = streams_of(context)
    tell = _Story(streams)
    asked = find_model(model)
    if not agreed(streams, asked, yes=yes):
        streams.warn("Nothing was run.")
        return
    tell.say(_opening(asked))
    files = Files.in_folder(folder)
    with writing(folder):
        agent = refunds_desk(Orders.build(files.database), model=asked.provider)
    with tell.step("run") as step:
        try:
            result = agent.run_sync(QUESTION)
        except RunCheckpointError as error:
            raise error.cause from error.cause.__cause__  # nobody takes the demo's run up again
        step.did = _ran(result)
    with writing(folder):
        result.recording.save(files.recording)
    with tell.step("why") as step:
        explained = result.why(of=SUSPECT)
        step.did = f"{counted(len(explained.sources), 'source')} reached the answer"
    decision, is_partial = decision_in(result.text), False
    is_wrong = decision is not None and decision != EXPECTED
    if is_wrong:
        with tell.step("prove") as step, _kept(streams, files):
            explained, is_partial = _proof(streams, result, asked)
            step.did = f"{counted(explained.runs_used, 're-run')}, tools replayed from the recording"
    with writing(folder):
        explained.to_html(files.page)
    tell.say(f"\n{_answer(result.text, EXPECTED)}\n\n{explained.custody_text(SUSPECT)}\n")
    verdict = proof_summary(explained) if is_wrong else folded(_no_proof(decision), 80, rest=" " * 7)
    streams.give(
        text=lambda: "\n".join([*verdict, "", _wrote(files)]),
        line=lambda: one_line(explained) if is_wrong else _no_proof(decision),
        document=lambda: (
            _document(asked, result, explained, files, expected=EXPECTED, decision=decision)
            | ({"partial": True} if is_partial else {})
        ),
    )
    if open_page:
        webbrowser.open(files.page.resolve().as_uri())
    if is_partial:
        streams.warn("Interrupted: this is what was settled, the rest was not tested.")
        raise typer.Exit(INTERRUPTED)


def _proof(streams: Streams, result: RunResult[Any], asked: AskedModel) -> tuple[Why, bool]:
    """Prove a wrong answer, with progress on stderr for a model that takes its time; whether Ctrl-C cut it short."""
    from agentfootprint.cli.demo.desk import DECISION, EXPECTED
    from agentfootprint.cli.demo.models import RUNS
    from agentfootprint.cli.proving import Bar, Lines
    from agentfootprint.explain import ProveOptions

    def prove(options: ProveOptions) -> Why:
        return result.prove_sync(changed=DECISION, expected=EXPECTED, runs=RUNS, options=options)

    if asked.provider is None:
        return prove(ProveOptions()), False
    plan = prove(ProveOptions(dry_run=True)).plan
    shows_bar = plan is not None and streams.is_terminal("err") and not streams.choices.quiet
    watch = Bar(streams, plan, None) if plan is not None and shows_bar else Lines(streams)
    with watch:
        explained = prove(ProveOptions(on_progress=watch))
    return explained, watch.was_stopped


@contextmanager
def _kept(streams: Streams, files: Files) -> Generator[None]:
    """Say that the run was written, when the model fails in the middle of its proof."""
    try:
        yield
    except AgentFootprintError:
        streams.warn(f"The proof was not finished; the run is in {files.recording}.")
        raise


def _opening(asked: AskedModel) -> str:
    if asked.provider is None:
        return "A refund agent with one planted wrong fact. Scripted model, no network.\n"
    who = folded(escaped(f"A real model decides: {asked.name}."), 80)
    return "\n".join(["A refund agent with one planted wrong fact.", *who, ""])


def _no_proof(decision: str | None) -> str:
    """Why there is no verdict: a right answer, or none that can be read, has nothing to be traced back to."""
    if decision is None:
        return "NOTHING TO PROVE  The answer does not say either APPROVED or DECLINED, so no decision can be tested."
    return f"NOTHING TO PROVE  The model did not follow the planted fact: it answered {decision}, which is right."


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
    lines = folded(quoted(text) if text.strip() else "(no text)", 80, start="ANSWER ", rest=" " * 7)
    return "\n".join([*lines, f"       expected: {expected}"])


def _wrote(files: Files) -> str:
    hints = ((files.recording, "agentfootprint show <file>"), (files.page, "open it in a browser"))
    width = max(len(str(path)) for path, _ in hints)
    lines = [f"{path!s:<{width}}  {kilobytes(path.stat().st_size):>6}   {hint}" for path, hint in hints]
    return "wrote  " + "\n       ".join(lines)


def _document(
    asked: AskedModel, result: RunResult[Any], explained: Why, files: Files, *, expected: str, decision: str | None
) -> dict[str, Any]:
    return {
        "format": "agentfootprint.demo/1",
        "model": asked.name,
        "answer": result.text,
        "decision": decision,
        "expected": expected,
        "run": {
            "iterations": result.iterations,
            "toolCalls": len(result.tool_calls),
            "events": len(result.recording.events),
        },
        "why": explained.to_wire(),
        "wrote": [str(files.recording), str(files.page)],
    }
