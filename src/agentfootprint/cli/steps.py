"""Which steps did a run take, and what did each read and write? Read off the snapshot, mounts included."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from agentfootprint.cli.reading import unknown_step
from agentfootprint.explain import counted, display_width, escaped, folded, quoted
from agentfootprint.trace import PATH_DELIMITER, CommitBundle, as_bundle, compact_json, payload_of, summarize_value

if TYPE_CHECKING:
    from agentfootprint.llm import ToolCall
    from agentfootprint.recording import ModelCall, Recording

__all__ = ["StepFacts", "StepLine", "find_step", "request_text", "step_text", "steps_of", "tree_text"]

_LABEL: Final = 9


@dataclass(frozen=True, slots=True)
class StepLine:
    """One step, and how deep in mounts and branches it ran."""

    depth: int
    step: str
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StepFacts:
    """What is on record of one step."""

    line: StepLine
    reads: tuple[str, ...]
    commits: tuple[CommitBundle, ...]
    """Empty for a step that did not commit; several where a branch ended in it (FLOW-MEM-30)."""
    call: ModelCall | None
    """The model call it made."""

    def to_wire(self) -> dict[str, Any]:
        """The facts as JSON."""
        wire: dict[str, Any] = {
            "step": self.line.step,
            "name": self.line.name,
            "reads": list(self.reads),
            "commits": [commit.to_wire() for commit in self.commits],
        }
        if self.call is not None:
            wire["said"] = self.call.content
            wire["asked"] = [{"name": tool.name, "args": tool.args} for tool in self.call.tool_calls]
        return wire


def steps_of(snapshot: Mapping[str, Any]) -> Iterator[StepLine]:
    """Every step of a run, in the order it began; without recursion, because a run is as deep as it is long.

    Args:
        snapshot: The wire form of the state, the log and the tree.
    """
    mounts = _part(snapshot, "subflowResults")
    waiting: list[tuple[int, Mapping[str, Any]]] = []
    first: dict[str, int] = {}
    root = snapshot.get("executionTree")
    if root:
        waiting.append((0, root))
    while waiting:
        depth, node = waiting.pop()
        step, stage = str(node.get("runtimeStageId", "")), str(node.get("id", ""))
        first.setdefault(stage, depth)
        yield StepLine(depth, step, str(node.get("name", "")).removeprefix(f"{step.rpartition('/')[0]}/"))
        following = node.get("next")
        if following:  # a loop goes back to where it began, also on the page
            loops = _part(node, "logs").get("dynamicNextTarget") == following.get("id")
            waiting.append((first.get(str(following.get("id")), depth) if loops else depth, following))
        waiting += [(depth + 1, child) for child in reversed(node.get("children") or ())]
        inside = _part(_part(mounts, step), "treeContext").get("stageContexts")
        if inside:
            waiting.append((depth + 1, inside))


def _part(whole: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    """An object in a snapshot; empty when it is not there."""
    return whole.get(key) or {}


def find_step(recording: Recording, step: str, *, where: str) -> StepFacts:
    """What is on record of one step.

    Args:
        recording: The run.
        step: Its id, whole.
        where: The file, as the user typed it.

    Raises:
        UnknownStepError: No step has that id; names the nearest.
    """
    snapshot = recording.snapshot
    lines = list(steps_of(snapshot))
    line = _named(lines, step)
    step = step if line is None else line.step
    commits = tuple(commit for log in _logs(snapshot) for commit in log if commit.runtime_stage_id == step)
    if line is None and commits:
        line = StepLine(0, step, commits[0].stage)
    if line is None:
        known = [each.step for each in lines] or [call.step for call in recording.calls]
        raise unknown_step(step, known, where=where)
    call = next((each for each in recording.calls if each.step == step), None)
    return StepFacts(line=line, reads=tuple(recording.reads_of(step)), commits=commits, call=call)


def _named(lines: Sequence[StepLine], step: str) -> StepLine | None:
    """The step with that id; an id without its mounts will do, since the number says which one is meant."""
    exact = next((line for line in lines if line.step == step), None)
    return exact or next((line for line in lines if line.step.endswith(f"/{step}")), None)


def _logs(snapshot: Mapping[str, Any]) -> Iterator[Iterator[CommitBundle]]:
    yield map(as_bundle, snapshot.get("commitLog") or ())
    mounts = _part(snapshot, "subflowResults")
    for key in mounts:
        if "#" in key:  # each mount stands there by its id too, as its last execution
            yield map(as_bundle, _part(_part(mounts, key), "treeContext").get("history") or ())


def step_text(facts: StepFacts, *, width: int, whole: bool = False) -> str:
    """A step for people: what it read and wrote, and what the model said.

    Args:
        facts: The step.
        width: Columns.
        whole: Whether a text it wrote is shown whole instead of cut with `...`.
    """
    lines = [escaped(f"{facts.line.step}   {facts.line.name}")]
    call = facts.call
    if call is not None:
        lines += ["", *_call_lines(call, width)]
    reads = ", ".join(facts.reads) if facts.reads else "nothing that was tracked"
    lines += ["", *folded(escaped(reads), width, start="READ".ljust(_LABEL), rest=" " * _LABEL)]
    writes = [(entry, payload_of(commit, entry)) for commit in facts.commits for entry in commit.trace]
    if not writes:
        lines.append("WROTE".ljust(_LABEL) + ("nothing" if facts.commits else "nothing: it did not commit"))
    for number, (entry, value) in enumerate(writes):
        start = ("" if number else "WROTE").ljust(_LABEL)
        where = escaped(f"{entry.path.replace(PATH_DELIMITER, '.')}  {entry.verb}")
        said = f"{where}  {_summary(value, whole=whole)}"
        lines += folded(said, width, start=start, rest=" " * (_LABEL + 2))
    unseen = [source for commit in facts.commits for source in commit.untracked_sources]
    if unseen:
        said = f"also read, untracked: {', '.join(dict.fromkeys(unseen))}"
        lines += folded(escaped(said), width, start="LIMITS".ljust(_LABEL), rest=" " * _LABEL)
    return "\n".join(lines)


def _call_lines(call: ModelCall, width: int) -> list[str]:
    usage = call.usage
    tokens = "tokens unknown"
    if usage is not None and usage.known:
        taken, given = usage.totals()
        tokens = f"{counted(taken, 'token')} in, {given:,} out"
    provider = f" ({call.provider})" if call.provider else ""
    model = [f"{call.model}{provider}"] if call.model else []
    about = ", ".join([f"iteration {call.iteration}", *map(escaped, model), tokens])
    lines = folded(about, width, start="CALL".ljust(_LABEL), rest=" " * _LABEL)
    said = quoted(call.content) if call.content else ""
    asked = [_call(tool) for tool in call.tool_calls]
    for text in filter(None, (said, f"asked for {', '.join(asked)}" if asked else "")):
        lines += folded(text, width, start="SAID".ljust(_LABEL), rest=" " * _LABEL)
    if not call.finished:
        lines.append("SAID".ljust(_LABEL) + "nothing: the call did not end")
    return lines


def _summary(value: Any, *, whole: bool) -> str:  # noqa: ANN401  any recorded value
    if whole and isinstance(value, str):
        return quoted(value)
    return escaped(" ".join(summarize_value(value).split()))


def request_text(call: ModelCall, *, width: int) -> str:
    """The request of a model call, word for word; a line that is too long goes on in the next one.

    Args:
        call: The call.
        width: Columns.
    """
    lines = [f"SYSTEM   {counted(len(call.system_text), 'character')}", *_verbatim(call.system_text, width)]
    lines += ["", f"MESSAGES {len(call.messages)}"]
    for number, message in enumerate(call.messages, 1):
        about = f"{number}  {message.role}"
        if message.tool_name is not None:
            about += f"  {message.tool_name}"
        lines += folded(escaped(about), width, start="  ", rest=" " * 5)
        lines += _verbatim(message.content, width)
        lines += [
            line
            for tool in message.tool_calls
            for line in folded(_call(tool), width, start="    asked for ", rest=" " * 6)
        ]
    lines += ["", f"TOOLS    {len(call.tools)}"]
    for tool in call.tools:
        about = escaped(f"{tool.name}: {tool.description or 'no description'}")
        lines += folded(about, width, start="  ", rest="    ")
    return "\n".join(lines)


def _call(tool: ToolCall) -> str:
    return escaped(f"{tool.name}({compact_json(tool.args)})")


def _verbatim(text: str, width: int) -> Iterator[str]:
    for row in text.splitlines():
        shown = f"    {escaped(row)}"
        if display_width(shown) <= width:
            yield shown.rstrip()
        else:
            yield from folded(escaped(row), width, start="    ", rest="    ")


def tree_text(lines: Sequence[StepLine], *, width: int) -> str:
    """Every step on a line, deeper ones further right."""
    longest = max((display_width(escaped(line.step)) + 2 * line.depth for line in lines), default=0)
    column = min(longest, width - 24) + 2
    told: list[str] = []
    for line in lines:
        step = escaped(line.step)
        start = "  " * line.depth + step
        if display_width(start) + 2 > column:  # too long for its column: a line of its own
            told += folded(step, width, start="  " * line.depth, rest="  " * line.depth)
            start = ""
        told += folded(
            escaped(line.name), width, start=start + " " * (column - display_width(start)), rest=" " * column
        )
    return "\n".join(told)
