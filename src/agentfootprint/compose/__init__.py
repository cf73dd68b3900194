"""Agents of agents: in sequence, side by side, one of several, again and again; each is a runner itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agentfootprint.compose.chaining import Sequence as Sequence
    from agentfootprint.compose.children import AnyRunner as AnyRunner
    from agentfootprint.compose.children import Branch as Branch
    from agentfootprint.compose.children import Case as Case
    from agentfootprint.compose.children import Failed as Failed
    from agentfootprint.compose.children import LoopPass as LoopPass
    from agentfootprint.compose.children import Ok as Ok
    from agentfootprint.compose.children import RunInput as RunInput
    from agentfootprint.compose.children import Step as Step
    from agentfootprint.compose.composed import Composed as Composed
    from agentfootprint.compose.errors import CompositionError as CompositionError
    from agentfootprint.compose.errors import LoopBudgetError as LoopBudgetError
    from agentfootprint.compose.fanning import Parallel as Parallel
    from agentfootprint.compose.functions import FunctionRunner as FunctionRunner
    from agentfootprint.compose.functions import runner as runner
    from agentfootprint.compose.looping import Loop as Loop
    from agentfootprint.compose.merging import MergeLLM as MergeLLM
    from agentfootprint.compose.routing import Conditional as Conditional
else:
    from agentfootprint._lazy import door

    _MODULES = {
        "chaining": ("Sequence",),
        "children": ("AnyRunner", "Branch", "Case", "Failed", "LoopPass", "Ok", "RunInput", "Step"),
        "composed": ("Composed",),
        "errors": ("CompositionError", "LoopBudgetError"),
        "fanning": ("Parallel",),
        "functions": ("FunctionRunner", "runner"),
        "looping": ("Loop",),
        "merging": ("MergeLLM",),
        "routing": ("Conditional",),
    }
    __getattr__, __dir__ = door(
        __name__, {name: f"{__name__}.{module}" for module, names in _MODULES.items() for name in names}
    )

__all__ = [
    "AnyRunner",
    "Branch",
    "Case",
    "CompositionError",
    "Failed",
    "LoopBudgetError",
    "MergeLLM",
    "Ok",
    "RunInput",
    "Step",
]
