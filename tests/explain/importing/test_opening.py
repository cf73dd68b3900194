"""Tests of agentfootprint.explain.importing.opening."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agentfootprint.explain import (
    NoAgentError,
    ProveOptions,
    UnknownSourceError,
    Why,
    forbidden_words,
    import_trace,
    one_line,
    prove,
    why,
)
from agentfootprint.explain.importing import AlreadyRecordingError, BrokenTraceError, NotJsonError, UnknownTraceError
from agentfootprint.recording import Recording
from tests.explain.importing.logs import SAMPLE, a_log, sample, write


def asked(folder: Path, log: dict[str, Any]) -> Why:
    return why(import_trace(write(folder, log)).recording)


def test_an_import_says_what_the_file_was_and_what_it_can_not_say() -> None:
    trace = import_trace(SAMPLE)

    assert trace.format == "Who&When failure log (known by history[].content and mistake_step)"
    assert (trace.counts.messages, trace.counts.agents, trace.counts.model_calls) == (7, 4, 5)
    assert trace.answer_step == "verification-expert#6"
    assert trace.limits[0].startswith("imported from a Who&When failure log: reads are inferred")
    assert trace.annotation["mistake_agent"] == "Schedule_Expert"


def test_the_shipped_log_asks_the_question_and_answers_it_wrongly() -> None:
    log = sample()

    recording = import_trace(SAMPLE).recording

    assert recording.user_message == log["question"]
    assert recording.answer == (log["history"][5]["content"], "verification-expert#6")
    assert log["ground_truth"] not in log["history"][5]["content"]


def test_why_names_candidates_with_scores_and_no_verdict() -> None:
    report = why(import_trace(SAMPLE).recording)

    assert [source.name for source in report.sources] == [
        "turn-2 Schedule_Expert",
        "turn-5 Counting_Expert",
        "question",
        "turn-3 Counting_Expert",
        "turn-1 Planning_Expert",
        "turn-4 Computer_terminal",
    ]
    assert [source.id for source in report.sources][:3] == ["turn-2", "turn-5", "question"]
    assert all(0 < source.score <= 1 and source.has_content_evidence for source in report.sources)
    assert all(source.verdict is None for source in report.sources)
    assert report.mode == "correlational"
    assert report.dropped == ()


def test_the_custody_of_a_message_says_what_is_inferred_and_what_is_not_known() -> None:
    report = why(import_trace(SAMPLE).recording)

    answer, read, landed, allowed, born = report.custody("turn-2")

    text = sample()["history"][1]["content"]
    assert (answer.step, answer.at) == ("answer", "verification-expert#6")
    assert (read.at, read.detail) == ("verification-expert#6", "inferred: message 3 of 6 in the history")
    assert (read.content, read.highlight) == (text, text)
    assert (landed.at, landed.variable) == ("schedule-expert#2", "history")
    assert allowed.unknown == "not recorded; every agent is taken to have been given the whole conversation"
    assert born.detail == "said by Schedule_Expert at schedule-expert#2"


def test_the_custody_of_the_task_begins_with_the_log() -> None:
    *_, landed, _, born = why(import_trace(SAMPLE).recording).custody("question")

    assert landed.at == "question#0"
    assert born.detail == "the task that the log begins with"


def test_the_text_is_in_the_words_of_its_standing() -> None:
    text = str(why(import_trace(SAMPLE).recording))

    assert not forbidden_words(text)
    assert "turn-2 Schedule_Expert" in text
    assert "LIMITS   No decision edges. Imported from a Who&When failure log: reads are" in text
    assert "it can't be tested" in text
    assert "prove_sync" not in text
    assert max(map(len, text.splitlines())) <= 80


def test_the_flags_say_imported() -> None:
    recording = import_trace(SAMPLE).recording

    flags = why(recording).honesty_flags

    assert recording.flags == ("imported",)
    assert [flag.note for flag in flags if flag.flag == "imported"] == list(import_trace(SAMPLE).limits)
    assert "slice-truncated" not in {flag.flag for flag in flags}


def test_an_earlier_step_can_be_asked_about() -> None:
    report = why(import_trace(SAMPLE).recording, at="counting-expert#3")

    assert {source.id for source in report.sources} == {"question", "turn-1", "turn-2"}


def test_a_message_after_the_answer_is_no_source() -> None:
    with pytest.raises(UnknownSourceError, match=r"no source 'turn-7'"):
        why(import_trace(SAMPLE).recording, of="turn-7")


async def test_an_imported_run_can_not_be_proven() -> None:
    recording = import_trace(SAMPLE).recording
    anybody: Any = object()

    for agent in (None, anybody):
        with pytest.raises(NoAgentError):
            await prove(recording, agent=agent, options=ProveOptions(dry_run=True))


def test_the_page_marks_the_message_and_says_what_the_log_does_not_hold(tmp_path: Path) -> None:
    report = why(import_trace(SAMPLE).recording)

    page = report.to_html(tmp_path / "why.html").read_text(encoding="utf-8")
    board = report.board()

    assert "Schedule_Expert" in page
    assert board["sources"][0]["kind"] == "Schedule_Expert"
    assert [record["id"] for record in board["records"] if record.get("source") == "turn-2"] == ["turn-2"]
    assert board["calls"][-1]["tools"]["unknown"]
    assert "next" not in board["ranking"]
    assert "untracked" not in board["recording"]
    assert "model" not in board["recording"]


def test_a_recording_comes_back_from_its_file_as_it_was(tmp_path: Path) -> None:
    recording = import_trace(SAMPLE).recording

    again = Recording.load(recording.save(tmp_path / "run.json", form="wire"))

    assert again.flags == recording.flags
    assert again.header == recording.header
    assert again.header["imported"]["annotation"]["mistake_step"] == "1"
    assert "agent" not in again.header
    assert again.run_id == recording.run_id
    assert str(why(again)) == str(why(recording))


def test_equal_files_give_equal_recordings_and_others_another_run(tmp_path: Path) -> None:
    same = write(tmp_path, sample(), "same.json")
    other = write(tmp_path, {**sample(), "level": "2"}, "other.json")

    assert import_trace(same).recording.to_wire() == import_trace(str(same)).recording.to_wire()
    assert import_trace(same).recording.run_id != import_trace(other).recording.run_id


def test_the_annotation_changes_no_score(tmp_path: Path) -> None:
    blamed = {**sample(), "mistake_agent": "Planning_Expert", "mistake_step": "0", "mistake_reason": "57 chairs"}

    here, there = why(import_trace(SAMPLE).recording), asked(tmp_path, blamed)

    assert [(s.id, s.score) for s in here.sources] == [(s.id, s.score) for s in there.sources]


def test_two_agents_whose_names_look_alike_stay_apart(tmp_path: Path) -> None:
    report = asked(tmp_path, a_log(("a_b", "One lamp."), ("A B", "Two lamps."), ("C", "Two lamps are lit.")))

    landed = {source.id: source.step for source in report.sources}

    assert landed == {"question": "question#0", "turn-1": "a-b#1", "turn-2": "a-b-2#2"}


def test_an_empty_message_is_no_source(tmp_path: Path) -> None:
    report = asked(tmp_path, a_log(("A", "Two lamps."), ("B", " \n"), ("C", "Two lamps are lit.")))

    assert {source.id for source in report.sources} == {"question", "turn-1"}


def test_a_final_answer_that_stands_apart_has_the_message_before_it_as_a_source(tmp_path: Path) -> None:
    log = a_log(
        ("human", "How many lamps are lit?"),
        ("WebSurfer", "The page says: three lamps.\nFINAL ANSWER: three lamps\nRUN.SH COMPLETE !#!#"),
    )

    report = asked(tmp_path, log)

    assert (report.step, report.answer) == ("final-answer#3", "three lamps")
    assert [source.name for source in report.sources] == ["turn-2 WebSurfer", "turn-1 human"]


def test_what_a_log_says_is_data_on_the_terminal_and_on_the_page(tmp_path: Path) -> None:
    name = "Evil\x1b[2J<script>alert(1)</script>"
    report = asked(tmp_path, a_log((name, "lamps\x1b[31m"), ("C", "Lamps."), more=1))

    text, page = str(report), report.to_html(tmp_path / "why.html").read_text(encoding="utf-8")

    assert "\x1b" not in text
    assert "<script>alert" not in page


def test_of_many_messages_the_first_are_listed_and_the_rest_counted(tmp_path: Path) -> None:
    report = asked(tmp_path, a_log(*[("A", f"lamp {n}") for n in range(40)], ("B", "All lamps.")))

    assert "and 21 more, from " in report.to_text()
    assert "and 21 more, from " in report.to_text(whole=True)


def test_a_byte_order_mark_is_no_mistake(tmp_path: Path) -> None:
    path = tmp_path / "log.json"
    path.write_bytes(b"\xef\xbb\xbf" + json.dumps(a_log(("A", "3"))).encode())

    assert import_trace(path).counts.messages == 1


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"not json",
        SAMPLE.read_bytes()[:500],
        json.dumps(sample()).encode("utf-16"),
        b'{"history": [{"content": "\xff", "role": "A"}]}',
        b'{"question": "\\ud800", "history": [{"content": "x", "role": "A"}]}',
        b"[" * 100_000,
        b"{}\n{}\n",
    ],
    ids=["empty", "text", "cut off", "utf-16", "not utf-8", "half a character", "too deep", "two documents"],
)
def test_what_is_not_one_json_document_is_refused(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "log.json"
    path.write_bytes(data)

    with pytest.raises(NotJsonError, match=r"log\.json is not one JSON document: ") as caught:
        import_trace(path)

    assert caught.value.where == str(path)
    assert caught.value.fix


def test_a_recording_of_ours_is_told_that_it_is_one(tmp_path: Path) -> None:
    wire = import_trace(SAMPLE).recording.save(tmp_path / "wire.json", form="wire")
    native = tmp_path / "native.json"
    native.write_bytes(b'{"format":"agentfootprint.runlog/1","runId":"r"}\n["z","done",{}]\n')

    for path in (wire, native):
        with pytest.raises(AlreadyRecordingError, match=r"already is a recording"):
            import_trace(path)


def test_an_unknown_document_and_a_broken_message_are_refused(tmp_path: Path) -> None:
    unknown = write(tmp_path, {"spans": []}, "spans.json")
    broken = a_log(("A", "3"), ("B", "4"))
    del broken["history"][1]["content"]

    with pytest.raises(UnknownTraceError, match=r"it holds an object with the keys 'spans'\."):
        import_trace(unknown)
    with pytest.raises(BrokenTraceError, match=r'history\[1\] has no "content"'):
        import_trace(write(tmp_path, broken))


def test_a_refusal_repeats_nothing_that_was_said(tmp_path: Path) -> None:
    log = a_log(("A", "the secret"), ("B", "the secret"))
    log["history"][1]["content"] = {"text": "the secret"}

    with pytest.raises(BrokenTraceError) as caught:
        import_trace(write(tmp_path, log))

    assert "secret" not in str(caught.value)


def test_a_file_that_is_not_there_stays_an_os_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        import_trace(tmp_path / "none.json")


def test_the_one_line_says_whose_message_resembles_most() -> None:
    line = one_line(why(import_trace(SAMPLE).recording))

    assert line.startswith("turn-2 Schedule_Expert resembles most: 0.70 of 1, next 0.61")
