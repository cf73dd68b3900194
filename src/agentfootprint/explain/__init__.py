"""Why an answer came out so: sources, scores, re-runs with honest statistics, and the words to say it in."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agentfootprint.explain.ablation import Ablation as Ablation
    from agentfootprint.explain.ablation import RemovableSource as RemovableSource
    from agentfootprint.explain.ablation import apply_ablations as apply_ablations
    from agentfootprint.explain.ablation import resolve_ablations as resolve_ablations
    from agentfootprint.explain.ablation import sources_of as sources_of
    from agentfootprint.explain.asking import why as why
    from agentfootprint.explain.claims import Claim as Claim
    from agentfootprint.explain.errors import AgentChangedError as AgentChangedError
    from agentfootprint.explain.errors import ExplainError as ExplainError
    from agentfootprint.explain.errors import NoAgentError as NoAgentError
    from agentfootprint.explain.errors import NothingToRemoveError as NothingToRemoveError
    from agentfootprint.explain.errors import NotRemovableError as NotRemovableError
    from agentfootprint.explain.errors import NoTriggerError as NoTriggerError
    from agentfootprint.explain.errors import OverBudgetError as OverBudgetError
    from agentfootprint.explain.errors import RedactedRecordError as RedactedRecordError
    from agentfootprint.explain.errors import UnknownSourceError as UnknownSourceError
    from agentfootprint.explain.errors import UnknownStepError as UnknownStepError
    from agentfootprint.explain.errors import UnrecordedCallError as UnrecordedCallError
    from agentfootprint.explain.explanation import Why as Why
    from agentfootprint.explain.importing.opening import ImportedTrace as ImportedTrace
    from agentfootprint.explain.importing.opening import TraceCounts as TraceCounts
    from agentfootprint.explain.importing.opening import import_trace as import_trace
    from agentfootprint.explain.model import ContextBugReport as ContextBugReport
    from agentfootprint.explain.model import CustodyHop as CustodyHop
    from agentfootprint.explain.model import DroppedUnit as DroppedUnit
    from agentfootprint.explain.model import HonestyFlag as HonestyFlag
    from agentfootprint.explain.model import Spent as Spent
    from agentfootprint.explain.model import Suspect as Suspect
    from agentfootprint.explain.model import Verdict as Verdict
    from agentfootprint.explain.model import VerdictStats as VerdictStats
    from agentfootprint.explain.proof import ProofPlan as ProofPlan
    from agentfootprint.explain.proof import ProofProgress as ProofProgress
    from agentfootprint.explain.proof import ProveOptions as ProveOptions
    from agentfootprint.explain.proof import ToolPolicy as ToolPolicy
    from agentfootprint.explain.reading.cost import recorded_cost as recorded_cost
    from agentfootprint.explain.reading.ending import recorded_ending as recorded_ending
    from agentfootprint.explain.reading.evidence import recorded_limits as recorded_limits
    from agentfootprint.explain.reading.missing import DroppedContext as DroppedContext
    from agentfootprint.explain.reading.missing import Unit as Unit
    from agentfootprint.explain.reading.missing import find_dropped_context as find_dropped_context
    from agentfootprint.explain.rerunning.bench import Rerunnable as Rerunnable
    from agentfootprint.explain.rerunning.bisection import BisectionResult as BisectionResult
    from agentfootprint.explain.rerunning.bisection import bisect_culprits as bisect_culprits
    from agentfootprint.explain.rerunning.comparators import Comparator as Comparator
    from agentfootprint.explain.rerunning.probes import AblationRerun as AblationRerun
    from agentfootprint.explain.rerunning.proving import ProofStoppedError as ProofStoppedError
    from agentfootprint.explain.rerunning.proving import Rerun as Rerun
    from agentfootprint.explain.rerunning.proving import prove as prove
    from agentfootprint.explain.rerunning.proving import prove_sync as prove_sync
    from agentfootprint.explain.rerunning.proving import rerun as rerun
    from agentfootprint.explain.rerunning.proving import rerun_sync as rerun_sync
    from agentfootprint.explain.scoring.ranking import RankingConfidence as RankingConfidence
    from agentfootprint.explain.telling import folded as folded
    from agentfootprint.explain.telling import one_line as one_line
    from agentfootprint.explain.telling import proof_summary as proof_summary
    from agentfootprint.explain.telling import tell_proof as tell_proof
    from agentfootprint.explain.words import VERDICT_WORDS as VERDICT_WORDS
    from agentfootprint.explain.words import counted as counted
    from agentfootprint.explain.words import display_width as display_width
    from agentfootprint.explain.words import escaped as escaped
    from agentfootprint.explain.words import forbidden_words as forbidden_words
    from agentfootprint.explain.words import interval_text as interval_text
    from agentfootprint.explain.words import money_text as money_text
    from agentfootprint.explain.words import quoted as quoted
    from agentfootprint.explain.words import rate_text as rate_text
    from agentfootprint.explain.words import seconds_text as seconds_text
else:
    from agentfootprint._lazy import door

    __getattr__, __dir__ = door(
        __name__,
        {
            name: f"agentfootprint.explain.{module}"
            for module, names in {
                "ablation": (
                    "Ablation",
                    "RemovableSource",
                    "apply_ablations",
                    "resolve_ablations",
                    "sources_of",
                ),
                "rerunning.bench": ("Rerunnable",),
                "rerunning.bisection": ("BisectionResult", "bisect_culprits"),
                "asking": ("why",),
                "claims": ("Claim",),
                "rerunning.comparators": ("Comparator",),
                "errors": (
                    "AgentChangedError",
                    "ExplainError",
                    "NoAgentError",
                    "NoTriggerError",
                    "NotRemovableError",
                    "NothingToRemoveError",
                    "OverBudgetError",
                    "RedactedRecordError",
                    "UnknownSourceError",
                    "UnknownStepError",
                    "UnrecordedCallError",
                ),
                "importing.opening": ("ImportedTrace", "TraceCounts", "import_trace"),
                "reading.missing": ("DroppedContext", "Unit", "find_dropped_context"),
                "reading.cost": ("recorded_cost",),
                "reading.ending": ("recorded_ending",),
                "reading.evidence": ("recorded_limits",),
                "explanation": ("Why",),
                "model": (
                    "ContextBugReport",
                    "CustodyHop",
                    "DroppedUnit",
                    "HonestyFlag",
                    "Spent",
                    "Suspect",
                    "Verdict",
                    "VerdictStats",
                ),
                "rerunning.probes": ("AblationRerun",),
                "proof": ("ProofPlan", "ProofProgress", "ProveOptions", "ToolPolicy"),
                "rerunning.proving": ("ProofStoppedError", "Rerun", "prove", "prove_sync", "rerun", "rerun_sync"),
                "scoring.ranking": ("RankingConfidence",),
                "telling": ("folded", "one_line", "proof_summary", "tell_proof"),
                "words": (
                    "VERDICT_WORDS",
                    "counted",
                    "display_width",
                    "escaped",
                    "forbidden_words",
                    "interval_text",
                    "money_text",
                    "quoted",
                    "rate_text",
                    "seconds_text",
                ),
            }.items()
            for name in names
        },
    )

__all__ = [
    "Ablation",
    "AblationRerun",
    "BisectionResult",
    "Claim",
    "Comparator",
    "ContextBugReport",
    "CustodyHop",
    "DroppedContext",
    "DroppedUnit",
    "ExplainError",
    "HonestyFlag",
    "NoTriggerError",
    "NotRemovableError",
    "NothingToRemoveError",
    "ProofProgress",
    "ProveOptions",
    "RankingConfidence",
    "Rerun",
    "Rerunnable",
    "Spent",
    "Suspect",
    "ToolPolicy",
    "Unit",
    "UnknownSourceError",
    "UnknownStepError",
    "bisect_culprits",
    "find_dropped_context",
    "import_trace",
    "prove",
    "prove_sync",
    "why",
]
