"""What does the library say in French? What is not here is said in English."""

from __future__ import annotations

from typing import Final

__all__ = ["COMMENTARY_FR", "STATUS_FR"]

STATUS_FR: Final = {
    "idle": "Je réfléchis…",
    "streaming": "{{partial}}",
    "tool": "J'utilise {{toolName}}…",
    "tool.progress": "{{toolName}} : {{progressMessage}}",
    "tool.progress.generic": "{{toolName}} : étape {{progressCount}}…",
    "paused": "J'attends votre réponse : {{question}}",
}

COMMENTARY_FR: Final = {
    "agent.turn_start": "On demande à {{agentName}} : {{userPrompt}}",
    "stream.llm_start.iter1": "{{agentName}} interroge son modèle.",
    "stream.llm_start.iterN": "{{agentName}} interroge de nouveau son modèle, avec ce qui est revenu.",
    "stream.llm_end.tools": "Le modèle veut se servir d'outils.",
    "stream.llm_end.terminal": "Le modèle a répondu.",
    "stream.thinking": "Le modèle a réfléchi.",
    "stream.tool_start": "{{agentName}} appelle {{toolName}}{{descClause}}.",
    "stream.tool_start.notDispatched": "{{toolName}} a été réglé sans être appelé.",
    "stream.tool_progress": "{{toolName}} signale : {{progressMessage}}",
    "stream.tool_end": "Le résultat est là.",
    "context.injected.rag": "Un passage trouvé est montré au modèle : {{descClause}}",
    "context.injected.skill": "Une compétence est montrée au modèle : {{descClause}}",
    "context.injected.memory": "Un souvenir est montré au modèle : {{descClause}}",
    "context.injected.instructions": "Une instruction est montrée au modèle : {{descClause}}",
    "context.injected.custom": "Un élément de contexte est montré au modèle : {{descClause}}",
    "skill.activated": "La compétence {{skillId}} est en vigueur.",
    "skill.deactivated": "La compétence {{skillId}} n'est plus en vigueur.",
    "composition.exit": "{{name}} est terminé ({{status}}).",
    "composition.handoff": "{{fromAgent}} passe la main à {{toAgent}}.",
    "pause.request": "On demande à une personne : {{question}}",
    "pause.resume": "La personne a répondu.",
    "cost.limit_hit.stopped": (
        "Une limite est atteinte ({{limitKind}} : {{actual}} sur {{limit}}) ; l'exécution s'arrête."
    ),
    "cost.limit_hit.continued": (
        "Une limite est atteinte ({{limitKind}} : {{actual}} sur {{limit}}) ; l'exécution continue."
    ),
}
