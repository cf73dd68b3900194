"""Board documents to draw: the refund run untested, proven, flat, inconclusive and with gaps, a long run, hostile text.

The refund run's steps, texts, scores and counts are those of the first hour's example.
"""

from __future__ import annotations

import copy
from typing import Any

from agentfootprint.explain.board import RecordPool
from agentfootprint.explain.board.shape import Board, BoardRecord, Call, Hop, Moment, MomentKind, Source, Verdict

ANSWER = (
    "Refund APPROVED: Dana Reyes holds VIP tier override status, so the 47-day-old order qualifies for a refund "
    "beyond the 30-day window."
)
QUESTION = "Should order A-1001 be refunded?"
BASE = "You are a refunds assistant. Policy: refunds only within 30 days of purchase."
VIP = "Customer Dana Reyes holds VIP tier override status: refunds are approved beyond the 30-day window."
STYLE = "Style rule #12: limit replies to two (2) sentences / 40 words max."
ORDER = "Order A-1001: purchased 47 days ago, price $480, category electronics."
SHARED = ("Refund APPROVED", "Dana Reyes holds VIP tier override status", "day", "refund beyond", "30-day window")
NEVER = "the run had no memory and no retriever, so the recording can't say what else existed"
ASKED = '{"orderId":"A-1001"}'


def spans(text: str, *parts: str) -> list[list[int]]:
    """Where each part stands in a text, in order."""
    out: list[list[int]] = []
    at = 0
    for part in parts:
        start = text.index(part, at)
        at = start + len(part)
        out.append([start, at])
    return out


def fact(name: str, text: str) -> BoardRecord:
    return {"slot": "system", "kind": "fact", "id": name, "text": text, "source": name}


def chain(source: str, text: str) -> list[Hop]:
    """The custody of one of the two facts."""
    return [
        {
            "step": "answer",
            "detail": "wrote this text to llmLatestContent; sf-route#43 made it final.",
            "at": "call-llm#40",
            "variable": "llmLatestContent",
            "content": ANSWER,
        },
        {
            "step": "read",
            "detail": "read systemPromptInjections. This is the whole request, word for word.",
            "at": "call-llm#40",
            "variable": "systemPromptInjections",
        },
        {
            "step": "landed",
            "detail": "appended 3 records to systemPromptInjections in iteration 1 (commit 4); unchanged since.",
            "at": "context#6",
            "variable": "systemPromptInjections",
            "content": f"{BASE}\n\n{VIP}\n\n{STYLE}",
            "highlight": text,
        },
        {
            "step": "allowed",
            "detail": "evaluated it twice, active twice. Trigger always: no rule decided.",
            "at": "evaluate#3",
            "content": "active: vip-override-fact, style-fact; skipped: none; triggers: always, always",
        },
        {
            "step": "born",
            "detail": f'Declared in context=[Fact("{source}")]; file and line: not recorded.',
            "content": text,
            "highlight": text,
        },
    ]


def tool_chain() -> list[Hop]:
    return [
        chain("", "")[0],
        {
            "step": "read",
            "detail": "read history; the tool's result is its third message.",
            "at": "call-llm#40",
            "variable": "history",
        },
        {
            "step": "landed",
            "detail": "appended 2 messages to history (commit 19): the model's call and the tool's result.",
            "at": "tool-calls#22",
            "variable": "history",
            "content": ORDER,
            "highlight": ORDER,
        },
        {
            "step": "allowed",
            "detail": "chose tool-calls: the model asked for it in call-llm#18. No permission rule filed a row.",
            "at": "sf-route#21",
            "content": "LLM requested 1 tool call(s)",
        },
        {
            "step": "born",
            "detail": "returned it for call t1. What the tool read inside is outside the recording.",
            "at": "tool-calls#22",
            "variable": "lookup_order",
            "content": ORDER,
        },
    ]


def moment(step: str, kind: MomentKind, iteration: int, title: str, text: str, **more: Any) -> Moment:
    out: dict[str, Any] = {"step": step, "kind": kind, "iteration": iteration, "title": title, "text": text, **more}
    return out  # pyright: ignore[reportReturnType]  the rest is checked by the document's own check


PROMPT = ["systemPromptInjections", "history", "dynamicToolSchemas", "cacheMarkers"]
ROUTE = ["llmLatestToolCalls", "iteration", "maxIterations"]
ITER = ["iteration"]
SAME = "Carried over: same records, no commit."
BOTH = "2 evaluated, 2 active."
QUIET = "The step committed nothing."
MODEL_1 = "Given 245 characters of system prompt, 1 message, 1 tool. Asked for lookup_order. 70 tokens in, 0 out."
MODEL_2 = "Given 245 characters of system prompt, 3 messages, 1 tool. Answered. 87 tokens in, 33 out; stop reason stop."


def refund_timeline() -> list[Moment]:
    """Every step of the refund run, in commit order."""
    # fmt: off
    rows: list[tuple[str, MomentKind, int, str, str, list[str] | None, list[str], list[int]]] = [
        ("seed#0", "run", 0, "Run starts", f"The user asks: “{QUESTION}”", None, ["userMessage", "history"], [0]),
        ("sf-injection-engine#1", "rules", 1, "Rules evaluated", BOTH, [], ["activeInjections"], [1]),
        ("sf-system-prompt#7", "system", 1, "System prompt composed", "3 records landed.", ITER, PROMPT[:1], [4]),
        ("sf-messages#9", "messages", 1, "Messages composed", "1 record.", ITER, ["messagesInjections"], [6]),
        ("sf-tools#11", "tools", 1, "Tools offered", "1 tool: lookup_order.", ITER, ["toolsInjections"], [10]),
        ("sf-cache#14", "plumbing", 1, "Cache markers set", "Stable prefix: 3 entries.", None, ["cacheMarkers"], [13]),
        ("call-llm#18", "model", 1, "Model call 1", MODEL_1, PROMPT, ["llmLatestToolCalls"], [15]),
        ("sf-thinking#19", "plumbing", 1, "Thinking normalised", QUIET, None, [], [16, 17]),
        ("sf-route#21", "decision", 1, "Decision: tool-calls", "“LLM requested 1 tool call(s)”", ROUTE, [], [18]),
        ("tool-calls#22", "tool", 1, "Tool call: lookup_order", f"Returned “{ORDER}”", ROUTE[:1], ["history"], [19]),
        ("sf-injection-engine#23", "rules", 2, "Rules evaluated", BOTH, [], ["activeByslot"], [20]),
        ("sf-system-prompt#29", "system", 2, "System prompt carried over", SAME, ITER, [], [24]),
        ("sf-messages#31", "messages", 2, "Messages composed", "3 records, 2 new.", ITER, ["messagesInjections"], [25]),
        ("sf-tools#33", "tools", 2, "Tools carried over", SAME, ITER, [], [30]),
        ("sf-cache#36", "plumbing", 2, "Cache markers unchanged", "Same prefix.", None, [], [32]),
        ("call-llm#40", "model", 2, "Model call 2: the answer", MODEL_2, PROMPT, ["llmLatestContent"], [34]),
        ("sf-thinking#41", "plumbing", 2, "Thinking normalised", QUIET, None, [], [35, 36]),
        ("sf-route#43", "decision", 2, "Decision: final", "“no tool calls”", ROUTE, ["finalContent"], [37, 38]),
        ("final#44", "run", 0, "Run ends", "The answer is returned.", [], [], [39]),
    ]
    # fmt: on
    inner = {"sf-injection-engine#1": ["evaluate#3"], "sf-system-prompt#7": ["context#6"]}
    out: list[Moment] = []
    for step, kind, iteration, title, text, reads, wrote, commits in rows:
        more: dict[str, Any] = {"wrote": wrote, "commits": [commits[0], commits[-1]]}
        if reads is not None:
            more["reads"] = reads
        if step in inner:
            more["inner"] = inner[step]
        if text == SAME:
            more["carried"] = True
        out.append(moment(step, kind, iteration, title, text, **more))
    return out


def refund() -> Board:
    """The refund run before any re-run: ranked, with a clear lead."""
    pool = RecordPool()
    system = [pool.add({"slot": "system", "kind": "base", "id": "Agent.system", "text": BASE})]
    system += [pool.add(fact("vip-override-fact", VIP)), pool.add(fact("style-fact", STYLE))]
    user = pool.add({"slot": "messages", "kind": "user", "text": QUESTION})
    asks = pool.add(
        {"slot": "messages", "kind": "assistant", "text": "", "calls": [{"name": "lookup_order", "arguments": ASKED}]}
    )
    result = pool.add(
        {"slot": "messages", "kind": "tool", "id": "lookup_order", "text": ORDER, "source": "lookup_order"}
    )
    tool = pool.add({"slot": "tools", "kind": "tool", "id": "lookup_order", "text": "Look up an order by id"})

    def call(step: str, iteration: int, messages: list[int], tokens: tuple[int, int]) -> Call:
        return {
            "step": step, "iteration": iteration, "finished": True, "model": "mock-1",
            "stop": "stop" if iteration == 2 else "tool_use", "tokensIn": tokens[0], "tokensOut": tokens[1],
            "system": {"records": pool.ranges(system), "joinedBy": "\n\n", "chars": 245, "limit": 4000},
            "messages": {"records": pool.ranges(messages)},
            "tools": {"records": pool.ranges([tool])},
        }  # fmt: skip

    calls = [call("call-llm#18", 1, [user], (70, 0)), call("call-llm#40", 2, [user, asks, result], (87, 33))]
    sources: list[Source] = [
        {
            "id": "vip-override-fact", "kind": "fact", "text": VIP, "score": 0.7673665,
            "shared": spans(ANSWER, *SHARED),
        },
        {
            "id": "lookup_order", "kind": "tool", "text": ORDER, "score": 0.3549193,
            "shared": spans(ANSWER, "47", "day", "order"),
        },
        {"id": "style-fact", "kind": "fact", "text": STYLE, "score": 0.2},
    ]  # fmt: skip
    return {
        "format": "agentfootprint.board/1",
        "question": QUESTION,
        "answer": {"text": ANSWER, "step": "call-llm#40", "iteration": 2, "expected": "DECLINED"},
        "records": pool.records,
        "calls": calls,
        "sources": sources,
        "plumbing": [
            {"step": "seed#0", "note": "run input (arg): upper bound 1.00, no text"},
            {"step": "sf-cache#14", "note": "cache markers (stage): upper bound 1.00, no text"},
            {"step": "call-llm#18", "note": "first model call (stage): upper bound 1.00, no text"},
        ],
        "ranking": {
            "by": "lexical-overlap", "ranked": True, "lead": 0.4124472, "needs": 0.05,
            "next": "agentfootprint why run.json --prove", "nextCost": "about 28 re-runs, tools replayed",
        },
        "custody": {
            "vip-override-fact": chain("vip-override-fact", VIP),
            "lookup_order": tool_chain(),
            "style-fact": chain("style-fact", STYLE),
        },
        "timeline": refund_timeline(),
        "missing": {"offered": 2, "sent": 2, "dropped": [], "neverOffered": NEVER},
        "limits": [
            {"flag": "untracked-sources", "note": "1 step also read untracked run input."},
            {"flag": "no-control-deps", "note": "No decision edges: the rules of the way here are not in it."},
        ],
        "recording": {
            "runId": "run-1", "iterations": 2, "modelCalls": 2, "toolCalls": 1, "model": "mock-1", "provider": "mock",
            "tokensIn": 157, "tokensOut": 33, "events": 57, "commits": 40, "redacted": [], "ended": "answer",
            "clock": {"usable": False, "why": "all 57 events carry one clock time"},
            "untracked": ["seed#0"], "audit": "none", "decisionEdges": False, "chart": False,
            "facts": [{"name": "Checks", "text": "1 of 4 had work: 2 encounters, 0 findings; 3 had nothing to check"}],
        },
    }  # fmt: skip


def verdict(word: str, removed: tuple[int, int, float, float], baseline: tuple[int, int, float, float]) -> Verdict:
    out: Any = {"verdict": word, "basis": "sequential"}
    for name, (flips, samples, low, high) in (("removed", removed), ("baseline", baseline)):
        out[name] = {"samples": samples, "flips": flips, "interval": [low, high]}
    return out


def refund_proven() -> Board:
    """The same run after 28 re-runs."""
    board = refund()
    none = verdict("not-confirmed", (0, 4, 0.0, 0.4899), (0, 4, 0.0, 0.4899))
    hit = verdict("confirmed", (10, 10, 0.7225, 1.0), (0, 10, 0.0, 0.2775))
    hit.update({"effect": [1.0, 0.6075, 1.0], "evidence": 66.38, "needed": 60.0, "becomes": "DECLINED"})
    hit["recovered"] = {"samples": 10, "flips": 10, "interval": [0.7225, 1.0]}
    board["sources"][0]["verdict"] = hit
    for source in board["sources"][1:]:
        source["verdict"] = copy.deepcopy(none)
    board["proof"] = {
        "compare": 'field "decision" of the output type, exact', "runs": 28, "tools": "replay", "alpha": 0.05,
        "decision": "APPROVED", "interaction": "single", "tokens": 5320, "usd": 0.027, "seconds": 41.0,
    }  # fmt: skip
    return board


def refund_inconclusive() -> Board:
    """Invented counts: the unchanged run is unstable."""
    board = refund_proven()
    first = verdict("inconclusive", (5, 9, 0.2667, 0.8112), (2, 9, 0.0632, 0.5474))
    first["effect"] = [0.3333, -0.1, 0.64]
    board["sources"][0]["verdict"] = first
    del board["sources"][2]["verdict"]
    board["sources"][2]["untested"] = "the limit of re-runs was reached before it"
    proof = board.get("proof")
    assert proof is not None
    proof.update({"runs": 26, "stopped": "26 re-runs, the --runs limit", "next": "--runs 96"})
    return board


def refund_flat() -> Board:
    """A ranking that can't separate its first two."""
    board = refund()
    for source, score in zip(board["sources"], (0.8457, 0.8365, 0.7137), strict=True):
        source["score"] = score
        source.pop("shared", None)
    board["ranking"].update({"by": "semantic-alignment", "ranked": False, "lead": 0.0092})
    return board


def refund_partial() -> Board:
    """Invented gaps: dropped events, a redacted key."""
    board = refund()
    for record in board["records"]:
        if record["slot"] == "system":
            record.update({"text": "", "unknown": "redacted by policy"})
    for call in board["calls"]:
        call["system"].pop("joinedBy", None)
    for source in (board["sources"][0], board["sources"][2]):
        source.pop("text", None)
        source.pop("score", None)
        source.pop("shared", None)
        source["unscored"] = "its text is redacted by policy"
        hops = board["custody"][source["id"]]
        for hop, why in zip(
            hops[2:],
            ("the first 312 events were dropped", "its evaluation is among the dropped events", "only the id survived"),
            strict=True,
        ):
            for key in ("at", "content", "highlight"):
                hop.pop(key, None)
            hop.update({"detail": "", "unknown": why})
    board["sources"][1].pop("score", None)
    board["sources"][1]["unscored"] = "nothing to compare it with"
    board["ranking"] = {"by": "lexical-overlap", "ranked": False, "note": "two of three sources have no recorded words"}
    for each in board["timeline"][:10]:
        each["unknown"] = "the events of this step were dropped; its commit is kept"
    board["missing"] = {"unknown": "the evaluation of iteration 1 is among the 312 dropped events"}
    board["recording"].update({"complete": False, "dropped": 312, "redacted": ["systemPromptInjections"]})
    board["recording"].pop("tokensIn")
    return board
