"""Tests of agentfootprint.agent.shaping.restoring."""

from __future__ import annotations

from agentfootprint import Agent, Mock, PauseCheckpoint, ask_human, tool


def test_a_run_without_prices_and_without_a_say_of_its_own_goes_on_as_the_agent_is() -> None:
    @tool
    def confirm() -> str:
        """Ask a person. Use it first."""
        ask_human("Sure?")

    agent = Agent(Mock([Mock.call("confirm"), "done"]), system="S", tools=[confirm])
    paused = agent.run_sync("go").paused
    assert paused is not None
    rest = agent.resume_sync(PauseCheckpoint.from_json(paused.checkpoint.to_json()), "yes")

    assert [(call.model, call.system_text) for call in rest.recording.calls] == [("mock-model", "S")]
    assert not {"resolvedModel", "costBudgetOnExceed", "unpricedCalls"} & set(rest.recording.snapshot["sharedState"])
