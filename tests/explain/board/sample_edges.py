"""Board documents at the edges: a run of many iterations, and texts that try to be more than text."""

from __future__ import annotations

from agentfootprint.explain.board import RecordPool
from agentfootprint.explain.board.shape import Board, BoardRecord, Call, Moment
from tests.explain.board.sample import BASE, ORDER, QUESTION, STYLE, VIP, fact, moment, refund, refund_proven


def long_run(iterations: int = 60, *, proven: bool = True) -> Board:
    """A run of many iterations: one search each, an order looked up in the middle, where a tool comes."""
    board = refund_proven() if proven else refund()
    middle = max(2, iterations // 2)
    pool = RecordPool()
    calls: list[Call] = []
    timeline: list[Moment] = [moment("seed#0", "run", 0, "Run starts", QUESTION, wrote=["userMessage"])]
    messages = [pool.add({"slot": "messages", "kind": "user", "text": QUESTION})]
    for number in range(1, iterations + 1):
        calls.append(_call(pool, number, messages, later=number >= middle))
        timeline += _steps(number, middle, last=number == iterations)
        if number < iterations:
            messages += _turn(pool, number, middle)
    end = iterations * 20
    timeline += [
        moment(f"late#{end + 15}", "error", iterations, "Exporter failed", "The run went on."),
        moment(f"final#{end + 16}", "run", 0, "Run ends", "The answer is returned."),
    ]
    answer = calls[-1]["step"]
    board.update({"records": pool.records, "calls": calls, "timeline": timeline})
    board["answer"].update({"step": answer, "iteration": iterations})
    moved = {"call-llm#40": answer, "context#6": "context#24", "evaluate#3": "evaluate#22"}
    moved |= {"tool-calls#22": f"tool-calls#{middle * 20 + 13}", "sf-route#21": f"sf-route#{middle * 20 + 12}"}
    for hop in (hop for hops in board["custody"].values() for hop in hops):
        if "at" in hop:
            hop["at"] = moved[hop["at"]]
    counts = {
        "iterations": iterations,
        "modelCalls": iterations,
        "toolCalls": iterations - 1,
        "events": iterations * 28,
    }
    board["recording"].update(counts)  # pyright: ignore[reportArgumentType, reportCallIssue]  keys of RunFacts
    board["recording"]["clock"] = {"usable": True}
    return board


def _call(pool: RecordPool, number: int, messages: list[int], *, later: bool) -> Call:
    system = [pool.add({"slot": "system", "kind": "base", "id": "Agent.system", "text": BASE})]
    system += [pool.add(fact("vip-override-fact", VIP)), pool.add(fact("style-fact", STYLE))]
    tools = [pool.add({"slot": "tools", "kind": "tool", "id": "search", "text": "Search the order database"})]
    if later:
        tools.append(
            pool.add({"slot": "tools", "kind": "tool", "id": "lookup_order", "text": "Look up an order by id"})
        )
    return {
        "step": f"call-llm#{number * 20 + 10}",
        "iteration": number,
        "finished": True,
        "tokensIn": 60 + 17 * number,
        "tokensOut": 12,
        "system": {"records": pool.ranges(system), "joinedBy": "\n\n", "chars": 245},
        "messages": {"records": pool.ranges(messages)},
        "tools": {"records": pool.ranges(tools)},
    }


def _steps(number: int, middle: int, *, last: bool) -> list[Moment]:
    at = number * 20
    decision = f"Decision: {'final' if last else 'tool-calls'}"
    name = "lookup_order" if number == middle else "search"
    rules, context = [f"evaluate#{at + 2}"], [f"context#{at + 4}"]
    same = number not in {1, middle}
    out = [
        moment(f"sf-injection-engine#{at + 1}", "rules", number, "Rules evaluated", "2 active", inner=rules),
        moment(f"sf-system-prompt#{at + 3}", "system", number, "System prompt", "", carried=number > 1, inner=context),
        moment(f"sf-messages#{at + 5}", "messages", number, "Messages composed", f"{number * 2 - 1} records"),
        moment(f"sf-tools#{at + 7}", "tools", number, "Tools offered", "", carried=same),
        moment(f"call-llm#{at + 10}", "model", number, f"Model call {number}", "", reads=["history"], durationMs=41.5),
        moment(f"sf-route#{at + 12}", "decision", number, decision, ""),
    ]
    if not last:
        out.append(moment(f"tool-calls#{at + 13}", "tool", number, f"Tool call: {name}", "", wrote=["history"]))
    return out


def _turn(pool: RecordPool, number: int, middle: int) -> list[int]:
    name = "lookup_order" if number == middle else "search"
    text = ORDER if number == middle else f"Page {number}: 20 orders, none of them A-1001. " * 4
    result: BoardRecord = {"slot": "messages", "kind": "tool", "id": name, "text": text}
    if number == middle:
        result["source"] = name
    asks: BoardRecord = {"slot": "messages", "kind": "assistant", "text": ""}
    asks["calls"] = [{"name": name, "arguments": f'{{"page":{number}}}'}]
    return [pool.add(asks, key=("ask", number)), pool.add(result, key=("result", number))]


HOSTILE = (
    "</script><script>window.hacked = 1</script><!-- <img src=x onerror='window.hacked = 2'> --> &amp; \u2028 \u2029 "
    "\u202egnp.exe\u202c \x1b[31mred\x1b[0m zero\u200bwidth \x00 {{script}} 🦊 end"
)


def hostile() -> Board:
    """Every text of the document tries to be more than text."""
    board = refund_proven()
    board["question"] = HOSTILE
    board["answer"]["text"] = HOSTILE
    board["sources"][0].update(
        {"text": HOSTILE, "name": "<b>bold</b>", "shared": [[HOSTILE.index("end"), len(HOSTILE)]]}
    )
    board["sources"][1].pop("shared", None)
    board["records"][1]["text"] = "🦊🦊 " + HOSTILE
    board["records"][1]["span"] = [3, 3 + len(HOSTILE)]
    board["records"][5]["text"] = HOSTILE + "\n" + "x" * 200_000
    board["custody"]["vip-override-fact"][2].update({"content": HOSTILE, "highlight": HOSTILE})
    board["timeline"][2].update({"title": HOSTILE, "text": HOSTILE})
    board["recording"].update({"runId": HOSTILE, "model": HOSTILE})
    board["limits"].append({"flag": "x", "note": HOSTILE})
    return board
