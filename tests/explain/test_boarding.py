"""Tests of agentfootprint.explain.boarding."""

from __future__ import annotations

import json
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path

import pytest

from agentfootprint import Agent, Fact, Limits, Mock, Why
from agentfootprint.explain import ProveOptions, why
from agentfootprint.explain.board import render_board, validate_board
from agentfootprint.explain.boarding import board_document, write_page
from agentfootprint.llm import LLMRequest, LLMResponse
from agentfootprint.trace import thaw
from tests.explain.desks import RULE, STYLE, VIP, Counted, desk, failed_recording, in_every_form, long_desk

HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(2)> \x1b[31mred\x1b[0m \u202ebackwards <!--"


def hostile(request: LLMRequest) -> str:
    return f"{HOSTILE} APPROVED" if "alert" in (request.system_prompt or "") else f"{HOSTILE} DECLINED"


def asked() -> Why:
    return long_desk().run_sync("Refund gamma?").why()


def proven() -> Why:
    return desk().run_sync("Refund?").prove_sync(changed=RULE)


def classic() -> Why:
    return desk().run_sync("Refund?").prove_sync(changed=RULE, options=ProveOptions(mode="classic"))


def stopped() -> Why:
    return desk().run_sync("Refund?").prove_sync(changed=RULE, runs=1)


def failed() -> Why:
    return why(failed_recording())


def bare() -> Why:
    return Agent(Mock("Hi.")).run_sync("hello").why()


def wicked() -> Why:
    return desk(hostile, Fact("<b>id\x1b", HOSTILE), STYLE).run_sync(HOSTILE).prove_sync(changed="/APPROVED|DECLINED/")


MADE = [asked, proven, classic, stopped, failed, bare, wicked]


class Page(HTMLParser):
    """What a browser would find in a page that could do harm or load something."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.scripts: list[str] = []
        self.loaded: list[str] = []
        self.handlers: list[str] = []
        self.tags: list[str] = []
        self.text = ""
        self._in_script = False
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        for name, value in attrs:
            if name.startswith("on"):
                self.handlers.append(name)
            if name in ("src", "href", "action", "data") and value and not value.startswith(("#", "data:")):
                self.loaded.append(value)
        self._in_script = tag == "script"
        if self._in_script:
            self.scripts.append("")

    def handle_endtag(self, tag: str) -> None:
        if tag == "script":
            self._in_script = False

    def handle_data(self, data: str) -> None:
        if self._in_script:
            self.scripts[-1] += data
        else:
            self.text += data


@pytest.mark.parametrize("make", MADE, ids=[make.__name__ for make in MADE])
def test_every_explanation_makes_a_document_of_plain_json_that_the_page_accepts(make: Callable[[], Why]) -> None:
    document = board_document(make())

    validate_board(document)
    assert json.loads(json.dumps(document)) == document
    assert document["format"] == "agentfootprint.board/1"


@pytest.mark.parametrize("make", MADE, ids=[make.__name__ for make in MADE])
def test_the_page_is_one_file_that_loads_nothing(make: Callable[[], Why], tmp_path: Path) -> None:
    path = make().to_html(tmp_path / "why.html")

    page = Page(path.read_text("utf-8"))
    assert [each.name for each in tmp_path.iterdir()] == ["why.html"]
    assert page.loaded == page.handlers == []
    assert not {"img", "iframe", "object", "embed", "link", "base"} & set(page.tags)


def test_model_text_never_becomes_part_of_the_page(tmp_path: Path) -> None:
    made = wicked()

    html = made.to_html(tmp_path / "why.html").read_text("utf-8")

    page = Page(html)
    assert not any(script.strip() == "alert(1)" for script in page.scripts)
    assert "<img src=x" not in html
    assert "\x1b" not in html
    assert "<img src=x onerror=alert(2)>" in page.text
    assert len(page.scripts) == len(Page(bare().to_html(tmp_path / "bare.html").read_text("utf-8")).scripts)


def test_a_document_without_re_runs_has_no_proof_and_no_verdict() -> None:
    document = asked().board()

    assert "proof" not in document
    assert not any("verdict" in source or "untested" in source for source in document["sources"])
    assert document["ranking"]["next"] == "result.prove_sync()"


def test_a_proof_shows_counts_intervals_and_what_the_decision_becomes() -> None:
    document = proven().board()

    vip, style = document["sources"]
    assert document["of"] == vip["id"] == "vip"
    assert (vip["verdict"]["verdict"], vip["verdict"]["becomes"]) == ("confirmed", "DECLINED")
    assert vip["verdict"]["removed"]["interval"][1] == 1
    assert (style["verdict"]["verdict"], "becomes" in style["verdict"]) == ("not-confirmed", False)
    assert document["proof"]["decision"] == "APPROVED"


def test_what_was_not_tested_says_so_in_place_of_a_verdict() -> None:
    document = stopped().board()

    assert [(source.get("untested"), source.get("verdict")) for source in document["sources"]] == [
        ("it was not tested", None)
    ] * 2


def test_a_tool_that_was_called_often_is_one_source_with_the_custody_of_its_best_result() -> None:
    document = asked().board()

    tools = [source for source in document["sources"] if source["id"] == "look_up"]
    assert [tool["text"] for tool in tools] == ["gamma: 47 days old, gamma is APPROVED"]
    assert document["custody"]["look_up"][1]["content"] == tools[0]["text"]


def test_every_source_has_five_links_also_when_it_came_through_an_earlier_call() -> None:
    document = asked().board()

    for source in document["sources"]:
        hops = [hop["step"] for hop in document["custody"][source["id"]]]
        assert hops == ["answer", "read", "landed", "allowed", "born"], source["id"]
    assert "; through call-llm#" in document["custody"]["early"][0]["detail"]


def test_the_timeline_holds_each_call_and_each_result_in_order() -> None:
    moments = asked().board()["timeline"]

    told = [(moment["kind"], moment["iteration"]) for moment in moments if moment["kind"] in ("model", "tool")]
    assert told == [(kind, n) for n in range(1, 5) for kind in ("model", "tool")] + [("model", 5)]
    assert [moment["text"] for moment in failed().board()["timeline"] if moment["kind"] == "model"] == [
        "asked for look_up",
        "did not answer",
    ]


def test_words_that_the_answer_shares_are_where_they_stand() -> None:
    made = desk().run_sync("Refund?").why()

    vip = made.board()["sources"][0]

    words = {made.answer[start:end] for start, end in vip["shared"]}
    assert {"Dana", "Reyes", "VIP"} <= words
    assert "Refund" in words  # plurals count as one word


def test_the_document_is_the_same_from_every_form_of_the_recording(tmp_path: Path) -> None:
    forms = in_every_form(long_desk().run_sync("Refund gamma?").recording, tmp_path)

    made = {form: thaw(why(recording).board()) for form, recording in forms.items()}

    assert made["live"] == made["native"]
    for document in made.values():  # the wire form has more events and says less of steps inside mounts
        del document["recording"]
        for moment in document["timeline"]:
            for key in ("reads", "wrote", "durationMs"):
                moment.pop(key, None)
    assert made["live"] == made["wire"] == made["object"]


def test_a_step_on_the_timeline_says_what_it_read_and_wrote_and_how_long_it_took() -> None:
    made = thaw(why(long_desk().run_sync("Refund gamma?").recording).board())

    moment = [each for each in made["timeline"] if each["kind"] == "model"][-1]
    assert "llmLatestContent" in moment["wrote"]
    assert "history" in moment["reads"]
    assert moment["durationMs"] >= 0


def test_the_facts_of_a_run_of_ours_leave_nothing_unstated() -> None:
    facts = thaw(why(long_desk().run_sync("Refund gamma?").recording).board())["recording"]

    assert (facts["complete"], facts["dropped"], facts["redacted"], facts["clock"]) == (True, 0, [], {"usable": True})
    assert facts["commits"] > 5 * 7


def test_an_existing_page_is_replaced_as_a_whole_and_a_failure_leaves_it(tmp_path: Path) -> None:
    path = tmp_path / "why.html"
    path.write_text("old")

    write_page(desk().run_sync("Refund?").why(), path)

    assert path.read_text("utf-8").startswith("<!doctype html>")
    with pytest.raises(OSError, match="missing"):
        write_page(bare(), tmp_path / "missing" / "why.html")
    assert [each.name for each in tmp_path.iterdir()] == ["why.html"]


def test_a_long_run_shows_the_first_calls_and_those_up_to_the_answer() -> None:
    def many(request: LLMRequest) -> str | LLMResponse:
        done = sum(message.role == "tool" for message in request.messages)
        return Mock.call("look_up", what=f"n{done}") if done < 70 else "Done."

    made = desk(many, VIP, tools=[Counted().tool], limits=Limits(iterations=80)).run_sync("Many?").why()

    shown = [call["iteration"] for call in made.board()["calls"]]
    assert (len(shown), shown[:6], shown[-1]) == (60, [1, 2, 3, 4, 5, 17], 71)


def test_a_page_written_over_a_link_or_a_private_file_leaves_the_link_and_the_mode(tmp_path: Path) -> None:
    private, link = tmp_path / "private.html", tmp_path / "link.html"
    private.write_text("old")
    private.chmod(0o600)
    link.symlink_to("private.html")
    before = private.stat().st_mode

    write_page(bare(), link)

    assert link.is_symlink()
    assert private.read_text("utf-8").startswith("<!doctype html>")
    assert private.stat().st_mode == before


def read_hop(html: str, source: str) -> str:
    """The link READ of a source's chain, as the page has it."""
    number = html.partition(f'<h3 class="static">Custody of <code>{source}</code></h3>')[2]
    return number.partition('data-hop="read"')[2].partition("</section>")[0]


def test_of_two_equal_texts_in_an_earlier_prompt_the_one_of_the_source_is_marked() -> None:
    told = thaw(long_desk().run_sync("Refund gamma?").why().board())
    first = told["calls"][0]
    early = next(n for n, record in enumerate(told["records"]) if record.get("source") == "early")
    text = told["records"][early]["text"]
    base = first["system"]["records"][0][0]
    told["records"][base]["text"] = f"{text} {told['records'][base]['text']}"
    hop = next(each for each in told["custody"]["early"] if each["step"] == "read")
    hop["content"] = f"{text} {hop['content']}"
    first["system"]["chars"] = len(hop["content"])

    html = render_board(told)
    del first["system"]["joinedBy"]
    unsaid = render_board(told)

    assert (hop["at"], hop["content"].count(text)) == (first["step"], 2)
    marked_part = read_hop(html, "early")
    assert marked_part.count("<mark") == 1
    assert marked_part.partition("<mark")[0].count(text) == 1
    assert "<mark" not in read_hop(unsaid, "early")
