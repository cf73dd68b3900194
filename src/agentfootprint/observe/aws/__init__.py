"""What happened, in Amazon Web Services: exporters behind the extra `aws`."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agentfootprint.observe.aws.logs import AgentCoreExporter as AgentCoreExporter
    from agentfootprint.observe.aws.logs import CloudWatchExporter as CloudWatchExporter
    from agentfootprint.observe.aws.traces import XRayExporter as XRayExporter
else:
    from agentfootprint._lazy import door

    # fmt: off
    __getattr__, __dir__ = door(
        __name__,
        {name: f"agentfootprint.observe.aws.{module}" for module, names in {
            "logs": ("AgentCoreExporter", "CloudWatchExporter"),
            "traces": ("XRayExporter",),
        }.items() for name in names},
    )
    # fmt: on

__all__ = ["AgentCoreExporter", "CloudWatchExporter", "XRayExporter"]
