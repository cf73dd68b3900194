"""The chart language of `vectors/flow` (its README), as charts of this engine; and one run of a case."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, cast

from agentfootprint.flow import (
    Branch,
    Chart,
    Decider,
    Executor,
    Flow,
    FlowResult,
    FlowSnapshot,
    ForEach,
    Fork,
    LoopTo,
    NarrativeOptions,
    Part,
    Pausable,
    PauseCheckpoint,
    Recorder,
    RedactionPolicy,
    RetryPolicy,
    Rule,
    Selector,
    Sighting,
    Stage,
    StageContext,
    State,
    StreamHandlers,
    Subflow,
    decide,
    interrupt,
    select,
)
from agentfootprint.trace import ABSENT

__all__ = ["Error", "Ran", "built", "ran"]

Node = Mapping[str, Any]
Ops = Sequence[Sequence[Any]]


class Error(Exception):
    """What the `throw` op raises, under the name the vectors show."""


def built(spec: Mapping[str, Any], name: str = "Chart") -> Flow:
    return _chart(spec, name).build()


def _chart(spec: Mapping[str, Any], name: str) -> Chart:
    return Chart.of(name, *(_part(node) for node in spec["nodes"]))


def _part(node: Node) -> Part:
    kinds: dict[str, Callable[[Node], Part]] = {
        "stage": _stage,
        "streaming": _streaming,
        "pausable": _pausable,
        "decider": _decider,
        "selector": _selector,
        "fork": lambda node: Fork([_stage(child) for child in node["children"]], fail_fast=node.get("failFast", False)),
        "subflow": _subflow,
        "lazy_subflow": lambda node: replace(_subflow(node), lazy=True),
        "foreach": _for_each,
        "fork_subflow": lambda node: Fork([_subflow(node)]),
        "loop": lambda node: LoopTo(node["to"]),
    }
    if node["kind"] not in kinds:
        raise ValueError(f"a kind of node that the language does not have: {node['kind']}")
    return kinds[node["kind"]](node)


def _named(node: Node) -> dict[str, Any]:
    return {"id": node["id"], "name": node["name"], "description": node.get("description")}


def _stage(node: Node) -> Stage:
    retry = RetryPolicy(attempts=node["retry"]["attempts"], delay=0) if "retry" in node else None
    return Stage(_function(node.get("ops", [])), loop_to=node.get("loopTo"), retry=retry, **_named(node))


def _streaming(node: Node) -> Stage:
    run = _function(node["ops"])

    async def stream(s: State, ctx: StageContext) -> Any:
        for token in node["tokens"]:
            ctx.token(token)
        return await run(s, ctx)

    return Stage(stream, stream=node.get("streamId", ""), **_named(node))


def _pausable(node: Node) -> Pausable:
    second = _function(node["resume"])

    async def resume(s: State, answer: Any, ctx: StageContext) -> Any:
        return await second(s, ctx, answer)

    return Pausable(_function(node["ops"]), resume, loop_to=node.get("loopTo"), **_named(node))


def _subflow(node: Node) -> Subflow:
    return Subflow(
        _chart(node["chart"], node["name"]),
        input=node.get("inputMap"),
        output=node.get("outputMap"),
        array_merge=node.get("arrayMerge", "concat"),
        propagate_break=node.get("propagateBreak", False),
        loop_to=node.get("loopTo"),
        **_named(node),
    )


def _for_each(node: Node) -> ForEach:
    def branch(item: Any, index: int) -> Chart:
        return _chart(node["chart"], node["name"])

    def items(s: State, ctx: StageContext) -> Any:
        return ctx.get(node["itemsKey"])

    return ForEach(
        branch,
        items,
        max_branches=node["maxBranches"],
        into=node["into"],
        fail_fast=node.get("failFast", False),
        **_named(node),
    )


def _branch(node: Node) -> Branch:
    made = _subflow(node) if "chart" in node else _pausable(node) if "resume" in node else _stage(node)
    return replace(made, converge_at=node.get("convergeAt"))


def _rules(node: Node) -> list[Rule]:
    return [Rule(when=rule["when"], then=rule["then"], label=rule.get("label")) for rule in node["rules"]]


def _decider(node: Node) -> Decider:
    run = _function(node.get("ops", []))

    async def choose(s: State, ctx: StageContext) -> Any:
        returned = await run(s, ctx)
        return decide(s, _rules(node), default=node["default"]) if "rules" in node else returned

    branches = [_branch(branch) for branch in node["branches"]]
    return Decider(choose, branches, default_node=node.get("setDefault"), **_named(node))


def _selector(node: Node) -> Selector:
    run = _function(node.get("ops", []))

    async def choose(s: State, ctx: StageContext) -> Any:
        returned = await run(s, ctx)
        return select(s, _rules(node)) if "rules" in node else returned

    branches = [_branch(branch) for branch in node["branches"]]
    return Selector(choose, branches, fail_fast=node.get("failFast", False), **_named(node))


def _function(ops: Ops) -> Callable[..., Any]:
    calls = itertools.count(1)

    async def run(s: State, ctx: StageContext, answer: Any = None) -> Any:
        returned: Any = None
        call = next(calls)
        for verb, *args in ops:
            if verb == "return":
                returned = args[0]
            elif verb == "fail_times":
                if call <= args[0]:
                    raise Error(args[1])
            else:
                _apply(verb, args, s, ctx, answer)
        return returned

    return run


def _apply(  # noqa: C901, PLR0912  one case an op
    verb: str, args: list[Any], s: State, ctx: StageContext, answer: Any
) -> None:
    if verb == "set":
        s[args[0]] = args[1]
    elif verb == "get":
        ctx.get(args[0])
    elif verb == "copy":
        s[args[0]] = ctx.get(args[1])
    elif verb == "sum":
        s[args[0]] = sum(ctx.get(key, 0) for key in args[1]) + (args[2] if len(args) > 2 else 0)
    elif verb == "append":
        before = ctx.get(args[0], ABSENT)
        s[args[0]] = args[1] if before is ABSENT else before.extend(args[1])
    elif verb == "redacted":
        ctx.set(args[0], args[1], redact=True)
    elif verb == "update":
        ctx.update(args[0], args[1])
    elif verb == "delete":
        del s[args[0]]
    elif verb == "args":
        s[args[0]] = ctx.args[args[1]]
    elif verb == "env":
        s[args[0]] = ctx.env[args[1]]
    elif verb == "silent":
        s[args[0]] = ctx.peek(args[1])
    elif verb == "emit":
        ctx.emit(args[0], args[1])
    elif verb == "log":
        ctx.log(args[0])
    elif verb == "metric":
        ctx.metric(args[0], args[1])
    elif verb == "throw":
        raise Error(args[0])
    elif verb == "break":
        ctx.break_(args[0])
    elif verb == "interrupt":
        s[args[1]] = interrupt(args[0]["reason"], expects=args[0].get("expects"))
    elif verb == "input":
        s[args[0]] = answer if args[1] is None else answer[args[1]]
    else:
        raise ValueError(f"an operation that the language does not have: {verb}")


class _Listener(Recorder):
    """One recorder with every hook."""

    def __init__(self) -> None:
        super().__init__("listener")
        self.seen: list[list[Any]] = []

    def _take(self, event: Sighting) -> None:
        hook = event.hook.split("_")
        name = hook[0] + "".join(word.capitalize() for word in hook[1:])
        self.seen.append([name, _without(event.to_wire(), ("timestamp", "runId", "duration", "pipelineId"))])

    on_run_start = on_run_end = on_run_failed = on_stage_start = on_read = on_write = on_emit = on_stage_end = _take
    on_commit = on_stage_executed = on_next = on_decision = on_selected = on_fork = on_subflow_entry = _take
    on_subflow_exit = on_loop = on_break = on_error = on_pause = on_resume = _take
    on_stage_retry = on_subflow_registered = _take


def _without(value: Any, keys: Sequence[str]) -> Any:
    if isinstance(value, dict):
        members = cast("dict[str, Any]", value)
        return {key: _without(item, keys) for key, item in members.items() if key not in keys}
    return [_without(item, keys) for item in cast("list[Any]", value)] if isinstance(value, list) else value


@dataclass
class Ran:
    """What one run, or one resume, left behind."""

    result: FlowResult | None
    error: Exception | None
    snapshot: FlowSnapshot
    events: list[list[Any]]
    streams: list[list[str]]
    narrative: list[dict[str, Any]]
    mirror: dict[str, Any] = field(default_factory=dict[str, Any])
    report: dict[str, Any] = field(default_factory=dict[str, Any])
    resumes: list[Ran] = field(default_factory=list["Ran"])


def ran(case: Mapping[str, Any]) -> Ran:
    """Run a case, and its resumes."""
    return asyncio.run(_ran(case))


async def _ran(case: Mapping[str, Any]) -> Ran:
    flow = built(case["chart"])
    listener, streams = _Listener(), list[list[str]]()
    options: dict[str, Any] = dict(case.get("options", {}))
    if "redaction" in case:
        options["redaction"] = RedactionPolicy(**_snake(case["redaction"]))
    executor = _executor(flow, options, listener, streams)
    given: dict[str, Any] = {"env": case.get("env"), **_snake(case.get("runOptions", {}))}
    first = await _end(executor, listener, streams, executor.run(case.get("input"), **given))
    last = first
    for again in case.get("resume", []):
        if last.result is None or last.result.checkpoint is None:
            raise AssertionError("the case resumes what has not paused")
        checkpoint: Any = last.result.checkpoint
        if again["fresh"]:
            listener = _Listener()
            # the vectors were made with executors that tell no narrative after a fresh start (unlike FLOW-PAU-7)
            executor = _executor(flow, {**case.get("options", {}), "narrative": False}, listener, streams)
            checkpoint = PauseCheckpoint.from_wire(checkpoint.to_wire())
        listener.seen = []
        last = await _end(executor, listener, streams, executor.resume(checkpoint, again["input"]))
        first.resumes.append(last)
    return first


def _executor(flow: Flow, options: Mapping[str, Any], listener: Recorder, streams: list[list[str]]) -> Executor:
    handlers = StreamHandlers(
        on_start=lambda stream: streams.append(["start", stream]),
        on_token=lambda stream, text: streams.append(["token", stream, text]),
        on_end=lambda stream, text: streams.append(["end", stream, text]),
    )
    return Executor(flow, recorders=[listener], stream=handlers, **_snake(options))


def _snake(options: Mapping[str, Any]) -> dict[str, Any]:
    return {"".join(f"_{c.lower()}" if c.isupper() else c for c in key): value for key, value in options.items()}


async def _end(executor: Executor, listener: _Listener, streams: list[list[str]], going: Any) -> Ran:
    result: FlowResult | None = None
    error: Exception | None = None
    try:
        result = await going
    except Exception as raised:  # noqa: BLE001  whatever the case raises is what it expects
        error = raised
    # selectors and for-each stages have no line there (FLOW-NAR-1)
    lines = executor.narrative_entries(NarrativeOptions(selector_lines=False)).to_wire()
    told = [{key: line[key] for key in ("type", "depth", "text")} for line in lines]
    mirror = dict(executor.snapshot(redact=True).shared_state.items())
    report = executor.redaction_report()
    return Ran(result, error, executor.snapshot(), listener.seen, streams, told, mirror, report)
