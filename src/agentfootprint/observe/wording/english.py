"""What does the library say in English?"""

from __future__ import annotations

from typing import Final

__all__ = ["COMMENTARY_EN", "STATUS_EN"]

STATUS_EN: Final = {
    "idle": "Thinking…",
    "streaming": "{{partial}}",
    "tool": "Using {{toolName}}…",
    "tool.progress": "{{toolName}}: {{progressMessage}}",
    "tool.progress.generic": "{{toolName}}: step {{progressCount}}…",
    "paused": "Waiting for you: {{question}}",
}

COMMENTARY_EN: Final = {
    "agent.turn_start": "{{agentName}} is asked: {{userPrompt}}",
    "stream.llm_start.iter1": "{{agentName}} asks its model.",
    "stream.llm_start.iterN": "{{agentName}} asks its model again, with what came back.",
    "stream.llm_end.tools": "The model wants to use tools.",
    "stream.llm_end.terminal": "The model has answered.",
    "stream.thinking": "The model has thought it over.",
    "stream.token.partial": "{{partial}}",
    "stream.tool_start": "{{agentName}} calls {{toolName}}{{descClause}}.",
    "stream.tool_start.desc": " ({{toolDescription}})",
    "stream.tool_start.noDesc": "",
    "stream.tool_start.notDispatched": "{{toolName}} was settled without being called.",
    "stream.tool_progress": "{{toolName}} reports: {{progressMessage}}",
    "stream.tool_end": "The result is back.",
    "context.injected.rag": "A retrieved passage is shown to the model: {{descClause}}",
    "context.injected.skill": "A skill is shown to the model: {{descClause}}",
    "context.injected.memory": "A memory is shown to the model: {{descClause}}",
    "context.injected.instructions": "An instruction is shown to the model: {{descClause}}",
    "context.injected.instructions.onToolReturn": "A tool's return brings an instruction: {{descClause}}",
    "context.injected.instructions.alwaysOn": "A standing instruction is shown to the model: {{descClause}}",
    "context.injected.custom": "A piece of context is shown to the model: {{descClause}}",
    "skill.activated": "The skill {{skillId}} is in force.",
    "skill.deactivated": "The skill {{skillId}} is no longer in force.",
    "skill.turn_routed.continuity": "The turn goes on with the skill {{to}}{{scorerClause}}.",
    "skill.turn_routed.continuity.nearTie": (
        "The turn goes on with the skill {{to}}: {{tieA}} ({{tieAShare}}) and {{tieB}} ({{tieBShare}}) are close."
    ),
    "skill.turn_routed.intent": "The turn begins with the skill {{to}}, which fits best{{scoreClause}}.",
    "skill.turn_routed.intent.scored": " ({{tieAShare}} against {{tieBShare}} for {{tieB}})",
    "skill.turn_routed.intent.scoredSolo": " ({{tieAShare}})",
    "skill.turn_routed.entry": "The turn begins with the skill {{to}}{{scorerClause}}.",
    "skill.turn_routed.entry.witness": ", because of the words “{{witness}}”",
    "skill.turn_routed.menu": (
        "The model is offered {{offeredCount}} skill{{offeredPlural}}: {{candidates}}{{stayClause}}."
    ),
    "skill.turn_routed.dropped": "The kept skill {{droppedId}} is not known any more; the turn begins anew.",
    "skill.turn_routed.none": "The turn begins without a skill.",
    "skill.turn_routed.none.rails": "No skill was entered.",
    "skill.turn_routed.none.rails.nearTie": (
        "No skill was entered: {{tieA}} ({{tieAShare}}) and {{tieB}} ({{tieBShare}}) are too close."
    ),
    "skill.turn_routed.none.rails.unmatched": "No skill was entered: none fits the message.",
    "skill.turn_routed.decider": "{{deciderModel}} was asked to choose, and the turn begins with the skill {{to}}.",
    "skill.escalated": "After {{afterRefusals}} refusals {{toModel}} takes over from {{fromModel}}.",
    "tools.effect.transition.accepted": "{{toolName}} proposes the skill {{targetSkillId}}: accepted{{reasonClause}}.",
    "tools.effect.transition.refused": "{{toolName}} proposes the skill {{targetSkillId}}: refused{{refusalClause}}.",
    "tools.effect.transition.superseded": (
        "{{toolName}} proposes the skill {{targetSkillId}}: another proposal came first."
    ),
    "tools.effect.instruction.accepted": (
        "{{toolName}} asks for the instruction {{instructionId}}: accepted{{reasonClause}}."
    ),
    "tools.effect.instruction.refused": (
        "{{toolName}} asks for the instruction {{instructionId}}: refused{{refusalClause}}."
    ),
    "tools.effect.reason": ", because {{reason}}",
    "tools.effect.refusalReason": ", because {{refusalReason}}",
    "tools.result_refused": "The result of {{toolName}} was too long ({{size}} of {{max}}){{narrowClause}}.",
    "tools.result_refused.narrowOne": "; it can be narrowed by {{narrowBy}}",
    "tools.result_refused.narrowMany": "; it can be narrowed by any of {{narrowBy}}",
    "tools.repeated_call": "{{toolName}} was called {{occurrences}} times with the same arguments and result.",
    "tools.repeated_call.argsOnly": "{{toolName}} was called {{occurrences}} times with the same arguments.",
    "artifacts.minted": "{{tool}} put aside {{subject}} ({{size}}){{derivedClause}}.",
    "artifacts.minted.subject.labeled": "“{{label}}”",
    "artifacts.minted.subject.plain": "an artifact of kind {{kind}}",
    "artifacts.minted.derived": ", made from {{parentCount}} other",
    "artifacts.presented": "{{subject}} is shown as {{as}}.",
    "artifacts.presented.subject.labeled": "“{{label}}”",
    "artifacts.presented.subject.plain": "An artifact of kind {{kind}}",
    "artifacts.resolved.head": "{{actor}} looked up an artifact of kind {{kind}} ({{size}}).",
    "artifacts.resolved.get": "{{actor}} read an artifact of kind {{kind}} ({{size}}).",
    "artifacts.actor.tool": "{{tool}}",
    "artifacts.actor.host": "The application",
    "artifacts.refused": "{{actor}}: {{opPhrase}} was refused, because {{reasonPhrase}}.",
    "artifacts.refused.dispatch": "{{tool}} was not called: {{reasonPhrase}}.",
    "artifacts.expired": "An artifact of kind {{kind}} ({{size}}) had to make room.",
    "artifacts.expired.noticed": "An artifact of kind {{kind}} ({{size}}) is past its time.",
    "skill.route_conflict": "Two tools proposed different skills; {{winner}} won{{suppressedClause}}.",
    "skill.route_conflict.suppressedOne": " over {{suppressed}}",
    "skill.route_conflict.suppressedMany": " over {{suppressed}}",
    "skill.rejected.guard": "The skill {{requestedId}} was refused: a condition of the way there does not hold.",
    "skill.rejected.rails": "The skill {{requestedId}} was refused: no way leads there from here.",
    "context.model_pick": "The model chose the skill {{to}}{{menuClause}}{{offMenuClause}}{{stayClause}}.",
    "context.model_pick.menu": " from a menu of {{offeredCount}}",
    "context.model_pick.offMenu": ", which was not on the menu",
    "context.model_pick.stay": ", and stays where it is",
    "context.entry_witness": "The words “{{witness}}” lead to the skill {{to}}.",
    "context.routed": "The skill {{skillId}} is in force with {{toolClause}}{{matchClause}}.",
    "context.routed.matched": " ({{label}})",
    "context.routed.default": "",
    "composition.fork_start": "{{branchCount}} branches start side by side: {{branches}}.",
    "composition.merge_end": "{{mergedCount}} of {{totalCount}} branches were merged.",
    "composition.enter.Sequence": "{{name}} begins: {{childCount}} parts, one after the other.",
    "composition.enter.Parallel": "{{name}} begins: {{childCount}} parts side by side.",
    "composition.enter.Loop": "{{name}} begins to repeat its part.",
    "composition.enter.Conditional": "{{name}} chooses one of {{childCount}} parts.",
    "composition.enter.Generic": "{{name}} begins.",
    "composition.exit": "{{name}} has ended ({{status}}).",
    "composition.handoff": "{{fromAgent}} hands over to {{toAgent}}.",
    "pause.request": "A person is asked: {{question}}",
    "pause.resume": "The person has answered.",
    "cost.limit_hit": "A limit was reached ({{limitKind}}).",
    "cost.limit_hit.stopped": "A limit was reached ({{limitKind}}: {{actual}} of {{limit}}); the run stops.",
    "cost.limit_hit.continued": "A limit was reached ({{limitKind}}: {{actual}} of {{limit}}); the run goes on.",
}
