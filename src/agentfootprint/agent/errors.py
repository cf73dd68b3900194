"""What can go wrong with a run: its input, its answer, its time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeAlias

from agentfootprint.errors import AgentFootprintError

if TYPE_CHECKING:
    from agentfootprint.agent.keeping.checkpoint import Checkpoint
    from agentfootprint.agent.pausing.paused import Paused
    from agentfootprint.llm import LLMMessage, ToolCall
    from agentfootprint.security import ToolCallEntry

__all__ = [
    "CheckpointFormatError",
    "ConversationMismatchError",
    "DeadlineExceededError",
    "DecisionRequiredError",
    "InvalidRunInputError",
    "MessageDeniedError",
    "NoConversationError",
    "OpenQuestionsError",
    "OutputSchemaError",
    "PauseAnswerRequiredError",
    "PendingQuestionError",
    "PolicyHaltError",
    "ReplayRefusal",
    "ReplayRefusedError",
    "RunCancelledError",
    "RunCheckpointError",
    "RunInFlightError",
    "RunPausedError",
    "StaleDecisionError",
    "closed",
]


def closed(words: str) -> str:
    """Somebody else's words with a full stop, so that what follows them begins a sentence."""
    return words if words.rstrip().endswith((".", "!", "?", "…")) else f"{words}."


class InvalidRunInputError(AgentFootprintError, TypeError):
    """What was given to `run` is no message (AGT-11); `received` is its shape, never its value."""

    code = "ERR_INVALID_RUN_INPUT"

    def __init__(self, runner: str, received: str) -> None:
        super().__init__(
            f"{runner} needs a message, but got {received}.",
            fix='Give a text that is not empty, or {"message": text}.',
        )
        self.runner = runner
        self.received = received


class OutputSchemaError(AgentFootprintError, ValueError):
    """The answer does not fit the declared output (AGT-127).

    `raw_output` is the answer's text, `stage` where it failed, `path` the first field at fault.
    """

    code = "ERR_OUTPUT_SCHEMA"

    def __init__(
        self,
        raw_output: str,
        stage: Literal["json-parse", "schema-validate"],
        path: str | None,
        attempts: int,
    ) -> None:
        where = f" at {path!r}" if path else ""
        what = "is not JSON" if stage == "json-parse" else f"does not fit the output type{where}"
        tries = "1 attempt" if attempts == 1 else f"{attempts} attempts"
        super().__init__(
            f"The answer {what}, after {tries}.",
            fix="Read result.text for the answer as it is, or allow more Output(retries=).",
        )
        self.raw_output = raw_output
        self.stage: Literal["json-parse", "schema-validate"] = stage
        self.path = path


class RunCancelledError(AgentFootprintError):
    """The run was cancelled through its handle; `reason` as given, `checkpoint` the conversation as it was left.

    `paused` is the question that it had come to by then, which can still be answered.
    """

    code = "ERR_CANCELLED"

    def __init__(self, run_id: str, reason: str | None) -> None:
        super().__init__(
            closed(f"The run {run_id} was cancelled{f': {reason}' if reason else ''}"),
            fix="Start it again when it is wanted.",
        )
        self.run_id = run_id
        self.reason = reason
        self.checkpoint: Checkpoint | None = None
        self.paused: Paused | None = None


class DeadlineExceededError(AgentFootprintError, TimeoutError):
    """The run took longer than `limits.deadline` allows; `deadline` in seconds, `checkpoint` what was left of it."""

    code = "ERR_DEADLINE"

    def __init__(self, run_id: str, deadline: float) -> None:
        super().__init__(
            f"The run {run_id} did not finish within its deadline of {deadline:g} s.",
            fix="Raise Limits(deadline=), or make its tools and model faster.",
        )
        self.run_id = run_id
        self.deadline = deadline
        self.checkpoint: Checkpoint | None = None


class CheckpointFormatError(AgentFootprintError, ValueError):
    """What was given is no checkpoint of this agent; `field` is what is at fault, `index` which item of it (AGT-76)."""

    code = "ERR_CHECKPOINT_FORMAT"

    def __init__(self, field: str, problem: str, *, fix: str, index: int | None = None) -> None:
        super().__init__(problem, fix=fix)
        self.field = field
        self.index = index


class DecisionRequiredError(AgentFootprintError, TypeError):
    """A consent gate was answered with something else than a decision; `received` is its shape (AGT-76)."""

    code = "ERR_DECISION_REQUIRED"

    def __init__(
        self, gate: Literal["checkIn", "ask"], received: str, *, tool_name: str | None, middleware: str | None
    ) -> None:
        what = f"the tool {tool_name!r}" if tool_name else "a call"
        who = f" that the rule {middleware!r} asked" if middleware else ""
        super().__init__(
            f"The question about {what}{who} needs a decision, but got {received}.",
            fix="Answer with approve(by=...) or decline(by=...).",
        )
        self.gate: Literal["checkIn", "ask"] = gate
        self.received = received
        self.tool_name = tool_name
        self.middleware = middleware


class PauseAnswerRequiredError(AgentFootprintError, TypeError):
    """A paused run was resumed without the answer that is the tool's result (AGT-76); `None` is an answer."""

    code = "ERR_PAUSE_ANSWER_REQUIRED"

    def __init__(self, tool_name: str, tool_call_id: str) -> None:
        super().__init__(
            f"The tool {tool_name!r} waits for an answer, and none was given.",
            fix="Pass it: agent.resume(paused, answer).",
        )
        self.tool_name = tool_name
        self.tool_call_id = tool_call_id


class OpenQuestionsError(AgentFootprintError, ValueError):
    """Several questions are open, and the answers are not one for each; nothing has happened (AGU-73).

    `missing` are the ids of questions without an answer, `unknown` what was answered and is not open, `repeated` the
    ids of questions with two answers.
    """

    code = "ERR_OPEN_QUESTIONS"

    def __init__(
        self,
        count: int,
        *,
        missing: tuple[str, ...] = (),
        unknown: tuple[str, ...] = (),
        repeated: tuple[str, ...] = (),
    ) -> None:
        parts = {"without an answer": missing, "not open": unknown, "answered twice": repeated}
        said = "; ".join(f"{what}: {', '.join(map(repr, ids))}" for what, ids in parts.items() if ids)
        super().__init__(
            f"The run waits for {count} answers, and these are not they: {closed(said)}",
            fix="Give agent.resume(paused, answers) a list in the order of paused.questions, or an answer by the id of "
            "each question.",
        )
        self.missing = missing
        self.unknown = unknown
        self.repeated = repeated


class StaleDecisionError(AgentFootprintError, ValueError):
    """The answer was chosen on other data than the question showed (AGT-88)."""

    code = "ERR_STALE_DECISION"

    def __init__(self, asked: str, answered: str) -> None:
        super().__init__(
            f"The question showed {asked!r}, and the answer was chosen on {answered!r}.",
            fix="Show the question again, and answer what it shows now.",
        )
        self.asked = asked
        self.answered = answered


class RunPausedError(AgentFootprintError):
    """The run waits for a person, so it has no output yet; `paused` is the question."""

    code = "ERR_RUN_PAUSED"

    def __init__(self, paused: Paused) -> None:
        super().__init__(
            f"The run has no output yet: the tool {paused.tool_name!r} waits for a person.",
            fix="Answer it: result = await agent.resume(result.paused, answer).",
        )
        self.paused = paused


class MessageDeniedError(AgentFootprintError):
    """A rule denied what the user said, or the answer (AGT-54); never holds the text.

    `reason` is the rule's, `phase` which end it was, `middleware` the rule's name.
    """

    code = "ERR_MESSAGE_DENIED"
    quotes_others: ClassVar[bool] = True

    def __init__(self, reason: str, *, phase: Literal["input", "output"], middleware: str) -> None:
        what = "The message was denied" if phase == "input" else "The answer was withheld"
        super().__init__(
            f"{what} by the rule {middleware!r}: {closed(reason)}",
            fix="Change what the rule objects to, or the rule in Gates(act=).",
        )
        self.reason = reason
        self.phase: Literal["input", "output"] = phase
        self.middleware = middleware


class PolicyHaltError(AgentFootprintError):
    """A permission checker stopped the run (AGT-64).

    `reason` is for telemetry, `tell_llm` what the model was to read. `sequence` holds the calls dispatched so far and
    the one that was stopped, last; `history` the conversation as it was committed; `proposed` the call.
    """

    code = "ERR_POLICY_HALT"
    quotes_others: ClassVar[bool] = True

    def __init__(
        self,
        reason: str,
        *,
        tell_llm: str | None,
        sequence: tuple[ToolCallEntry, ...],
        iteration: int,
        history: tuple[LLMMessage, ...],
        proposed: ToolCall,
        checker_id: str | None,
    ) -> None:
        super().__init__(
            f"Policy halt: {reason} (tool={proposed.name!r}, iteration={iteration}).",
            fix="Read its sequence for what led there; the checker in Gates(permission=) decides.",
        )
        self.reason = reason
        self.tell_llm = tell_llm
        self.sequence = sequence
        self.iteration = iteration
        self.history = history
        self.proposed = proposed
        self.checker_id = checker_id


class RunCheckpointError(AgentFootprintError):
    """A run failed, and this is what it leaves (AGT-106): raised from what went wrong, which is its `cause`.

    `checkpoint` is the conversation up to the failure, `can_resume` whether `agent.resume_on_error(checkpoint)` can
    plausibly succeed, `retry_after` how many seconds the provider asked to wait, if it did.
    """

    code = "ERR_RUN_CHECKPOINT"
    quotes_others: ClassVar[bool] = True

    def __init__(
        self,
        problem: str,
        *,
        cause: Exception,
        checkpoint: Checkpoint,
        can_resume: bool,
        retry_after: float | None,
        fix: str,
    ) -> None:
        super().__init__(problem, fix=fix)
        self.cause = cause
        self.checkpoint = checkpoint
        self.can_resume = can_resume
        self.retry_after = retry_after

    def __reduce__(self) -> tuple[Any, ...]:
        import pickle  # only for an error that goes to another process

        revive, (kind, args, state) = super().__reduce__()
        try:
            pickle.loads(pickle.dumps(self.cause))  # noqa: S301  our own bytes; many errors of SDKs can't be read back
        except Exception:  # noqa: BLE001  the cause is anybody's class
            state = {**state, "cause": RuntimeError(f"{type(self.cause).__name__}: {self.cause}")}
        return revive, (kind, args, state)


class RunInFlightError(AgentFootprintError, RuntimeError):
    """A turn was begun while another one of the same conversation goes on (AGT-23)."""

    code = "ERR_RUN_IN_FLIGHT"

    def __init__(self, agent_id: str, active_run_id: str) -> None:
        super().__init__(
            f"The conversation with {agent_id!r} is in the middle of a turn: the run {active_run_id} has not ended.",
            fix="Await it first, or make the conversation with queue=True, which lets turns wait for each other.",
        )
        self.agent_id = agent_id
        self.active_run_id = active_run_id


class PendingQuestionError(AgentFootprintError, RuntimeError):
    """A new message came while a question of the conversation is open (AGT-24)."""

    code = "ERR_PENDING_QUESTION"

    def __init__(self, tool_name: str | None, tool_call_id: str | None, question: str) -> None:
        asker = f"The tool {tool_name!r} (call {tool_call_id!r})" if tool_name else "The conversation"
        super().__init__(
            f"{asker} waits for a person: {closed(question or 'no question was given')}",
            fix="Answer with conversation.resume(paused, answer), or give it up with conversation.abandon_pause().",
        )
        self.tool_name = tool_name
        self.tool_call_id = tool_call_id


class NoConversationError(AgentFootprintError, RuntimeError):
    """There is nothing to follow up on; `reason` says why (AGT-144)."""

    code = "ERR_NO_CONVERSATION"

    def __init__(self, reason: Literal["never-run", "last-run-unfinished"]) -> None:
        said = "has had no turn" if reason == "never-run" else "has no answer to its last message"
        super().__init__(
            f"The conversation {said}, so nothing can follow up on it.",
            fix="Say the message with conversation.run(message).",
        )
        self.reason: Literal["never-run", "last-run-unfinished"] = reason


class ConversationMismatchError(AgentFootprintError, ValueError):
    """The conversation is one of another agent; both have ids of their own (AGT-105)."""

    code = "ERR_CONVERSATION_MISMATCH"

    def __init__(self, stored_agent_id: str, agent_id: str) -> None:
        super().__init__(
            f"The conversation was held with the agent {stored_agent_id!r}, and this one is {agent_id!r}.",
            fix="Give it to the agent of that id, or leave the id of one of them out.",
        )
        self.stored_agent_id = stored_agent_id
        self.agent_id = agent_id


ReplayRefusal: TypeAlias = Literal[
    "another-agent", "no-answers", "not-ended", "stopped", "resumed", "another-pause", "redacted"
]
"""Why a recording can't be replayed.

`another-agent` made it; it holds `no-answers` of a model, or `not-ended`: it was cut off, or goes on; the run was
`stopped` from outside, between two answers; it was `resumed` and its checkpoint is missing, or that of `another-pause`;
it was `redacted`: a policy kept out what would have to be fed.
"""


class ReplayRefusedError(AgentFootprintError, ValueError):
    """The recording can't be replayed by this agent; `reason` says why (02 s.27.13)."""

    code = "ERR_REPLAY_REFUSED"

    def __init__(self, reason: ReplayRefusal, run_id: str, problem: str, *, fix: str) -> None:
        super().__init__(f"The run {run_id or '(without an id)'} can't be replayed: {problem}", fix=fix)
        self.reason: ReplayRefusal = reason
        self.run_id = run_id
