"""Tests of agentfootprint.observe.reviewing.player."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentfootprint import Agent, Mock, ask_human, tool
from agentfootprint.llm import LLMResponse, ToolCall
from agentfootprint.observe import Player, play, record_run
from agentfootprint.recording import Recording
from tests.observe.made import desk


@pytest.fixture(scope="module")
def recording() -> Recording:
    return desk(turns=2).run_sync("Weather?").recording


def test_a_run_is_gone_through_stop_by_stop_without_a_model(recording: Recording) -> None:
    player = play(recording)

    kinds = [moment.stop.milestone.kind for moment in player]
    turns = [moment for moment in player if moment.stop.milestone.kind == "llm-turn"]

    assert kinds[:5] == ["iteration", "slot", "slot", "slot", "llm-turn"]
    assert (kinds.count("llm-turn"), kinds.count("tool-call")) == (3, 2)
    assert [turn.value("iteration") for turn in turns] == [1, 2, 3]
    assert [len(turn.messages) for turn in turns] == [1, 3, 5]
    assert turns[-1].value("llmLatestContent") == "Sunny."
    assert turns[0].value("nothing of this name") is None


def test_what_a_stop_shows_does_not_hang_on_how_one_came_there(recording: Recording) -> None:
    player, other = play(recording), play(recording)
    forward = list(player)

    backward = [other.at(index) for index in reversed(range(len(other)))]

    assert [each.status for each in forward] == [each.status for each in reversed(backward)]
    assert [each.stop for each in forward] == [each.stop for each in reversed(backward)]
    assert player.at(-1).stop == player.stops[-1]
    with pytest.raises(IndexError):
        player.at(len(player))


def test_a_file_of_either_form_plays_like_the_run(recording: Recording, tmp_path: Path) -> None:
    native = Recording.load(recording.save(tmp_path / "native.json"))
    wire = Recording.load(recording.save(tmp_path / "wire.json", form="wire"))

    def told(player: Player) -> list[tuple[str, int, str | None, int]]:
        return [(each.stop.runtime_stage_id, each.stop.commits, each.status, len(each.messages)) for each in player]

    assert told(play(native)) == told(play(recording))
    assert told(play(wire)) == told(play(recording))


def test_the_status_line_speaks_the_language_that_was_asked_for(recording: Recording) -> None:
    english = {each.status for each in play(recording)}
    french = {each.status for each in play(recording, locale="fr")}

    assert english != french


def test_a_call_that_asked_a_person_is_open_at_the_last_stop() -> None:
    @tool
    def confirm() -> None:
        """Ask."""
        ask_human("Sure?")

    agent = Agent(Mock([LLMResponse("", tool_calls=[ToolCall("c1", "confirm", {})])]), tools=[confirm])

    moments = list(play(agent.run_sync("?").recording))

    assert [(each.tool_name, each.status) for each in moments[-1].open_tools] == [("confirm", "waiting")]
    assert "Waiting for you" in str(moments[-1].status)


def test_a_failed_run_plays_up_to_its_failure() -> None:
    agent = Agent(Mock([RuntimeError("down")]))
    recorder = record_run(agent)
    with pytest.raises(Exception, match="down"):
        agent.run_sync("?")

    moments = list(play(recorder.recording()))

    assert [each.stop.milestone.kind for each in moments][:1] == ["iteration"]
    assert moments[-1].open_tools == ()
