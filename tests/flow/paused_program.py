"""A program that goes on with a stored pause: `python -m tests.flow.paused_program FILE ANSWER`.

It prints what it came to; when the run pauses once more, it stores that pause in the file.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from agentfootprint.flow import Chart, Decider, Flow, Fork, Pausable, Stage, StageContext, State, Subflow, interrupt
from agentfootprint.trace import thaw

__all__ = ["flow"]


def begin(s: State) -> None:
    s.steps = 0


def mail(s: State) -> str:
    s.mailed = True
    return "mailed"


def approve(s: State) -> dict[str, Any]:
    return {"question": "approve?"}


def approved(s: State, answer: Any, ctx: StageContext) -> None:
    s.approved = answer


def route(s: State) -> str:
    return "pay"


def pay(s: State) -> None:
    s.paid = interrupt("how?")


def join(s: State, ctx: StageContext) -> dict[str, Any]:
    return {
        "approved": s.approved,
        "paid": s.paid,
        "order": ctx.args.order,
        "mailed": s["runs"]["mail"]["mailed"],
        "steps": int(ctx.runtime_stage_id.rpartition("#")[2]),
    }


def flow() -> Flow:
    """A chart that pauses in a mount in a fork, and asks in a branch of a decider in another mount."""
    asking = Chart.of("Asking", Pausable(approve, approved))
    paying = Chart.of("Paying", Decider(route, [Stage(pay)]))
    children = [Subflow(asking, id="asking", output=("approved",)), Stage(mail)]
    return Chart.of(
        "Order", Stage(begin), Fork(children), Subflow(paying, id="paying", output=("paid",)), Stage(join)
    ).build()


def main(file: Path, answer: str) -> None:
    result = flow().executor().resume_sync(json.loads(file.read_text(encoding="utf-8")), answer)
    if result.checkpoint is None:
        print(json.dumps(thaw(result.value)))  # noqa: T201  what a program says
        return
    file.write_text(json.dumps(result.checkpoint.to_wire()), encoding="utf-8")
    print(f"paused: {result.checkpoint.pause_data['reason']}")  # noqa: T201  what a program says


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
