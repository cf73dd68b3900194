"""Tests of logs with a redaction policy: whatever stages do, replay gives the mirror and no hidden value is in it."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from agentfootprint.flow import Chart, Executor, Flow, Fork, RedactionPolicy, Stage, StageContext, State, Subflow
from agentfootprint.trace import deep_equal, materialise, thaw
from tests.flow.charts import Listener

MARK = "S3CRET"


def nothing(s: State) -> None:
    """The body of a stage that does nothing."""


PLAIN: st.SearchStrategy[Any] = st.one_of(
    st.integers(0, 9), st.lists(st.integers(0, 3), max_size=3), st.just(dict[str, Any]()), st.just("text")
)
OPS: st.SearchStrategy[Any] = st.lists(
    st.tuples(
        st.sampled_from(["set", "update", "nest", "delete", "drop", "append", "redact"]),
        st.sampled_from(["plain", "ssn", "user", "code", "list"]),
        PLAIN,
    ),
    max_size=6,
)
STEPS: st.SearchStrategy[Any] = st.lists(
    st.tuples(st.sampled_from(["line", "line", "fork", "mount"]), OPS), min_size=1, max_size=5
)


def secret_of(key: str, value: Any, hidden: set[str]) -> Any:
    """A value for a key, with a mark wherever the policy or an earlier write hides it."""
    if key == "user":
        return {"name": value, "pin": [MARK, value], "cards": [{"number": f"{MARK}{value}"}], "plain": {"deep": value}}
    if key == "ssn" or key in hidden:
        return {"n": [MARK, value], "m": {"o": MARK}} if isinstance(value, int) and value % 2 else [MARK, str(value)]
    return value


def act(ops: list[Any], everywhere: set[str], kind: str) -> Any:
    """A stage that does these operations; `everywhere` are the keys that a write has redacted for the whole run."""

    def stage(s: State, ctx: StageContext) -> None:
        hidden = set(everywhere) if kind == "mount" else everywhere
        for verb, key, value in ops:
            before = ctx.get(key)
            if verb == "redact" and key == "code":
                hidden.add(key)
                everywhere.add(key)
                ctx.set(key, secret_of(key, value, hidden), redact=True)
            elif verb == "delete" and before is not None:
                del s[key]
                if kind != "fork":  # an older value may stand behind the one in the namespace
                    hidden.discard(key)
            elif verb == "append" and isinstance(thaw(before), list):
                s[key].append(secret_of(key, value, hidden))
            elif verb == "nest" and isinstance(thaw(before), dict):
                s[key]["pin"] = secret_of(key, value, hidden) if key != "user" else MARK
            elif verb == "drop" and isinstance(thaw(before), dict) and before:
                del s[key][next(iter(before))]
            elif verb == "update":
                ctx.update(key, secret_of(key, value, hidden))
            else:
                s[key] = secret_of(key, value, hidden)

    return stage


def chart_of(steps: list[Any]) -> Flow:
    hidden: set[str] = set()
    parts: list[Any] = [Stage(nothing, id="start")]
    for number, (kind, ops) in enumerate(steps):
        stage = Stage(act(ops, hidden, kind), id=f"s{number}")
        if kind == "mount":
            inner = Chart.of("Inner", stage)
            names = {"ssn": "ssn", "user": "user", "code": "code", "list": "plain"}
            parts.append(Subflow(inner, id=f"m{number}", input=names, output=names, inputs="mutable"))
        elif kind == "fork":
            parts.append(Stage(nothing, id=f"f{number}"))
            parts.append(Fork([stage, Stage(nothing, id=f"c{number}")]))
        else:
            parts.append(stage)
    return Chart.of("Random", *parts).build()


POLICY = RedactionPolicy(keys=["ssn"], fields={"user": ["pin", "cards.number", "n"]})


@settings(max_examples=150)
@given(steps=STEPS)
def test_a_redacted_log_replays_to_the_mirror_and_holds_no_hidden_value(steps: list[Any]) -> None:
    mirrors: list[Any] = []
    for values in ("full", "delta"):
        listener = Listener()
        executor = Executor(
            chart_of(steps), redaction=POLICY, commit_values=values, recorders=[listener], initial_state={"ssn": MARK}
        )

        executor.run_sync()

        plain, redacted = executor.snapshot(), executor.snapshot(redact=True)
        log = [bundle.to_wire() for bundle in plain.commit_log]
        mirror = thaw(redacted.shared_state)
        assert deep_equal(materialise(log, len(log), {"ssn": "REDACTED"}), mirror)
        assert set(mirror) == set(plain.shared_state)
        for key in {"plain", "list", "code"} & set(mirror):  # shown as it is, or not at all
            assert mirror[key] == "REDACTED" or deep_equal(mirror[key], plain.shared_state[key])
            assert key == "code" or mirror[key] != "REDACTED"
        texts = [redacted.to_wire(), log, plain.execution_tree, [event.to_wire() for event in listener.seen]]
        assert MARK not in json.dumps(texts)
        for result in plain.subflow_results.values():
            context = result["treeContext"]
            history = context["history"]
            assert deep_equal(materialise(history, len(history), {}), context["globalContext"])
        mirrors.append(mirror)
    assert deep_equal(*mirrors)
