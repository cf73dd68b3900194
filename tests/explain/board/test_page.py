"""Tests of agentfootprint.explain.board.page."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import time
from collections.abc import Callable
from html.parser import HTMLParser
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentfootprint.errors import ConfigError
from agentfootprint.explain.board import BoardDocumentError, render_board
from tests.explain.board.sample import (
    ANSWER,
    BASE,
    ORDER,
    QUESTION,
    VIP,
    refund,
    refund_flat,
    refund_inconclusive,
    refund_partial,
    refund_proven,
)
from tests.explain.board.sample_edges import HOSTILE, hostile, long_run

ONLY_TESTED = re.compile(r"cause|culprit|proven|confirm", re.IGNORECASE)


class Page(HTMLParser):
    """The page as a browser without a script reads it."""

    def __init__(self, markup: str) -> None:
        super().__init__(convert_charrefs=True)
        self.text = ""
        self.scripts: list[str] = []
        self.styles: list[str] = []
        self.marks: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self._open: list[str] = []
        self.feed(markup)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag in {"script", "style", "mark"}:
            self._open.append(tag)
            {"script": self.scripts, "style": self.styles, "mark": self.marks}[tag].append("")

    def handle_endtag(self, tag: str) -> None:
        if self._open and self._open[-1] == tag:
            self._open.pop()

    def handle_data(self, data: str) -> None:
        inside = self._open[-1] if self._open else None
        if inside == "script":
            self.scripts[-1] += data
        elif inside == "style":
            self.styles[-1] += data
        else:
            self.text += data
            if inside == "mark":
                self.marks[-1] += data

    def one(self, tag: str, **attributes: str) -> dict[str, str | None]:
        found = [values for name, values in self.tags if name == tag and attributes.items() <= values.items()]
        assert len(found) == 1
        return found[0]


def test_the_page_shows_answer_custody_prompt_and_verdict_without_its_script() -> None:
    page = Page(render_board(refund_proven()))

    assert QUESTION in page.text
    assert ANSWER in page.text
    assert VIP in page.marks
    assert all(name in page.text for name in ("ANSWER", "READ", "LANDED", "ALLOWED", "BORN"))
    assert all(text in page.text for text in (BASE, ORDER, "79\u2013176", "245 characters"))
    assert "Proven" in page.text
    assert "10 of 10 · 72\u2013100 %" in page.text
    assert "0 of 10 · 0\u201328 %" in page.text
    assert "from APPROVED to DECLINED" in page.text
    assert "up to 49 % is not ruled out" in page.text


@pytest.mark.parametrize("sample", [refund, refund_flat, refund_partial, lambda: long_run(proven=False)])
def test_without_re_runs_no_word_of_the_whole_page_says_what_only_they_can(sample: Callable[[], Any]) -> None:
    markup = render_board(sample())

    assert ONLY_TESTED.findall(markup) == []
    assert "without it" not in markup
    assert "No effect found" not in markup


def test_a_ranking_shows_its_lead_and_what_an_order_needs() -> None:
    page = Page(render_board(refund()))

    assert "Ranked, not tested" in page.text
    assert "resembles the answer most (0.77 of 1; next 0.35)" in page.text
    assert "lead 0.41" in page.text
    assert "An order needs a lead of 0.05" in page.text
    assert "agentfootprint why run.json --prove" in page.text


def test_a_flat_ranking_shows_no_ordinal() -> None:
    markup = render_board(refund_flat())

    assert re.findall(r'class="no"[^>]*>([^<]*)<', markup) == ["\u2013"] * 3
    assert "the top two differ by 0.009; an order needs 0.05" in markup


def test_an_inconclusive_proof_says_so_and_what_was_not_tested() -> None:
    page = Page(render_board(refund_inconclusive()))

    assert "Proven" not in page.text
    assert "Inconclusive" in page.text
    assert "by itself in 2 of 9 re-runs" in page.text
    assert "the decision changes in 5 of 9: not enough to tell" in page.text
    assert "Not tested: the limit of re-runs was reached before it" in page.text
    assert "Stopped: 26 re-runs, the --runs limit" in page.text


def test_a_deterministic_proof_has_no_interval_and_says_why() -> None:
    board: Any = refund_proven()
    rate = {"samples": 2, "flips": 2}
    board["sources"][0]["verdict"] = {
        "verdict": "confirmed",
        "basis": "deterministic",
        "removed": rate,
        "baseline": {"samples": 2, "flips": 0},
    }

    page = Page(render_board(board))

    assert "No interval: a repeat can't differ." in page.text
    assert "2 of 2 ·" not in page.text


def test_a_baseline_that_was_not_run_is_said_and_not_counted() -> None:
    board: Any = refund_proven()
    board["sources"][0]["verdict"]["baseline"] = {"samples": 0, "flips": 0}

    page = Page(render_board(board))

    assert "with it not run" in page.text
    assert "0 of 0" not in page.text
    assert "in 10 of 10 re-runs." in page.text


def test_what_is_not_known_is_said_and_never_a_zero() -> None:
    markup = render_board(refund_partial())

    page = Page(markup)
    assert page.text.count("Unknown: redacted by policy") >= 3
    assert "Unknown: the first 312 events were dropped" in page.text
    assert "unknown tokens in" in page.text
    assert "not priced" in page.text
    assert "no, stated by the recorder" in page.text
    assert "dropped: not stated" not in page.text
    assert "3 of 3 pieces without words; 245 characters recorded at the call" in page.text
    assert page.marks == [ORDER]
    assert 'class="unknown"' in markup


def test_a_recorded_length_that_disagrees_is_said() -> None:
    board = refund()
    board["calls"][1]["system"]["chars"] = 300

    assert "the length recorded at the call says 300: some words are not shown here" in render_board(board)


def test_a_source_whose_words_are_not_in_the_prompt_marks_nothing() -> None:
    board = refund()
    del board["records"][1]["source"]

    markup = render_board(board)

    assert "not found in this request, so nothing is marked" in markup


def test_a_document_without_sources_or_calls_still_is_a_page() -> None:
    board = refund()
    board.update({"sources": [], "custody": {}, "calls": [], "records": [], "timeline": [], "plumbing": []})

    page = Page(render_board(board))

    assert "No source reached this call" in page.text
    assert "Unknown: the prompt of this call is not in the document" in page.text


def test_many_sources_keep_their_rank_and_fold() -> None:
    board: Any = refund()
    board["sources"] += [{"id": f"note-{n}", "kind": "memory", "text": "a note", "score": 0.1} for n in range(9)]
    board["custody"].update({f"note-{n}": [] for n in range(9)})

    markup = render_board(board)

    assert "6 more sources, lower in the list" in markup
    assert re.findall(r'class="no"[^>]*>([^<]*)<', markup) == [str(n) for n in range(1, 13)]
    assert "this link is not in the report" in markup


@pytest.mark.parametrize("sample", [refund, refund_proven, refund_partial, hostile, long_run])
def test_the_document_stands_in_the_page_unchanged(sample: Callable[[], Any]) -> None:
    page = Page(render_board(sample()))

    assert page.one("script", type="application/json")["id"] == "board"
    assert json.loads(page.scripts[0]) == sample()


def test_the_policy_allows_this_style_and_this_script_and_nothing_else() -> None:
    page = Page(render_board(refund_proven()))

    policy = page.one("meta", **{"http-equiv": "Content-Security-Policy"})["content"]
    assert policy is not None
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    assert rules["default-src"] == "'none'"
    assert rules["img-src"] == "data:"
    for name, text in (("style-src", page.styles[0]), ("script-src", page.scripts[1])):
        assert rules[name] == f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
    assert len(page.scripts) == 2
    assert len(page.styles) == 1


def test_the_page_asks_for_nothing_and_has_no_inline_handler_or_style() -> None:
    markup = render_board(refund_proven())

    page = Page(markup)
    assert re.findall(r"https?://", markup) == []
    for tag, attributes in page.tags:
        assert not {"src", "style", "action", "srcset"} & attributes.keys()
        assert not [name for name in attributes if name.startswith("on")]
        assert (attributes.get("href") or "#").startswith("#")
        assert tag not in {"link", "img", "iframe", "form", "object"}
    assert "innerHTML" not in page.scripts[1]
    assert "insertAdjacentHTML" not in page.scripts[1]
    assert "document.write" not in page.scripts[1]


def test_hostile_text_stays_text() -> None:
    page = Page(render_board(hostile()))

    assert len(page.scripts) == 2
    assert not [tag for tag, _ in page.tags if tag == "img"]
    assert page.text.count("</script><script>window.hacked = 1</script><!--") >= 5
    assert "U+202Egnp.exeU+202C" in page.text
    assert "{{script}}" in page.text
    assert any(mark.startswith("</script>") for mark in page.marks)


TEXT = st.text(st.characters(exclude_categories=["Cs"])) | st.sampled_from(
    ["</script>", "<!--", "-->", "<script>", "]]>", "\u2028", "&lt;", "{{data}}", HOSTILE]
)


@settings(max_examples=60)
@given(TEXT, TEXT)
def test_no_text_can_leave_its_place(prompt: str, answer: str) -> None:
    board = refund_proven()
    board["answer"]["text"] = answer
    for source in board["sources"]:
        source.pop("shared", None)
        source["text"] = prompt
    board["records"][1]["text"] = prompt
    board["records"][5]["text"] = prompt

    page = Page(render_board(board))

    assert [len(page.scripts), len(page.styles)] == [2, 1]
    assert json.loads(page.scripts[0]) == board
    assert [tag for tag, _ in page.tags if tag not in KNOWN_TAGS] == []


KNOWN_TAGS = {
    *("html", "head", "meta", "title", "style", "script", "body", "header", "main", "footer", "section", "div", "span"),
    *("a", "button", "label", "input", "details", "summary", "h1", "h2", "h3", "h4", "p", "q", "b", "u", "code", "kbd"),
    *("ul", "li", "dl", "dt", "dd", "table", "thead", "tbody", "tr", "th", "td", "mark"),
    *("svg", "path", "circle", "rect", "line"),
}


@pytest.mark.parametrize("theme", ["auto", "light", "dark"])
def test_a_theme_is_where_the_page_starts(theme: str) -> None:
    assert Page(render_board(refund(), theme=theme)).one("html")["data-theme"] == theme


def test_an_unknown_theme_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"no theme 'blue'.*'light'"):
        render_board(refund(), theme="blue")


def test_a_step_may_make_several_tool_calls() -> None:
    board = refund()
    board["timeline"].insert(10, {**board["timeline"][9], "title": "Tool call: find_customer"})

    assert "Tool call: find_customer" in render_board(board)


def test_a_document_that_is_not_one_is_refused() -> None:
    with pytest.raises(BoardDocumentError, match=r"'format'"):
        render_board({"format": "something else"})


def test_the_same_document_gives_the_same_page_and_stays_as_it_was() -> None:
    board = refund_proven()

    assert render_board(board) == render_board(refund_proven())
    assert board == refund_proven()


def test_the_page_of_a_small_run_is_small() -> None:
    assert len(render_board(refund_proven()).encode()) < 100_000


def test_a_long_run_costs_in_proportion_and_is_aggregated() -> None:
    small, large = (len(render_board(long_run(n))) for n in (500, 1_000))

    page = Page(render_board(long_run(60)))

    assert large < 2.1 * small
    assert "folded: 99 records" in page.text
    assert "52 model calls; Tool call: search 51 times; Tool call: lookup_order 1 time;" in page.text


def test_a_run_of_two_thousand_iterations_renders_in_a_few_seconds() -> None:
    board = long_run(2_000)

    start = time.perf_counter()
    render_board(board)

    assert time.perf_counter() - start < 5
