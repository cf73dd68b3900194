"""Who is watching: what reads the events of runs while they happen."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agentfootprint.observe.audit.canonical import canonical_json as canonical_json
    from agentfootprint.observe.audit.checking import AuditVerification as AuditVerification
    from agentfootprint.observe.audit.checking import FailedCheck as FailedCheck
    from agentfootprint.observe.audit.checking import SignatureState as SignatureState
    from agentfootprint.observe.audit.checking import verify_audit as verify_audit
    from agentfootprint.observe.audit.exporter import AuditExporter as AuditExporter
    from agentfootprint.observe.audit.reading import verify_audit_files as verify_audit_files
    from agentfootprint.observe.boundaries.counting import Aggregate as Aggregate
    from agentfootprint.observe.boundaries.graph import StepGraph as StepGraph
    from agentfootprint.observe.boundaries.graph import StepGraphBuilder as StepGraphBuilder
    from agentfootprint.observe.boundaries.graph import build_step_graph as build_step_graph
    from agentfootprint.observe.boundaries.happenings import DomainEvent as DomainEvent
    from agentfootprint.observe.boundaries.happenings import domain_event as domain_event
    from agentfootprint.observe.boundaries.local import LocalWatch as LocalWatch
    from agentfootprint.observe.boundaries.local import observe_locally as observe_locally
    from agentfootprint.observe.boundaries.log import BoundaryLog as BoundaryLog
    from agentfootprint.observe.boundaries.milestones import Milestone as Milestone
    from agentfootprint.observe.boundaries.milestones import milestone_for as milestone_for
    from agentfootprint.observe.boundaries.milestones import slot_of as slot_of
    from agentfootprint.observe.boundaries.milestones import stage_role as stage_role
    from agentfootprint.observe.boundaries.redacting import redact_content as redact_content
    from agentfootprint.observe.boundaries.stops import RunStep as RunStep
    from agentfootprint.observe.boundaries.stops import build_run_steps as build_run_steps
    from agentfootprint.observe.boundaries.traces import TraceFile as TraceFile
    from agentfootprint.observe.boundaries.traces import to_trace_file as to_trace_file
    from agentfootprint.observe.console import ConsoleExporter as ConsoleExporter
    from agentfootprint.observe.errors import AuditFileError as AuditFileError
    from agentfootprint.observe.errors import AuditKeyError as AuditKeyError
    from agentfootprint.observe.errors import EventFileError as EventFileError
    from agentfootprint.observe.errors import ExportFailedError as ExportFailedError
    from agentfootprint.observe.export.attaching import ExportSubscription as ExportSubscription
    from agentfootprint.observe.export.attaching import Subscribe as Subscribe
    from agentfootprint.observe.export.attaching import attach_exporter as attach_exporter
    from agentfootprint.observe.export.combining import combine_exporters as combine_exporters
    from agentfootprint.observe.export.files import FileExporter as FileExporter
    from agentfootprint.observe.export.port import Exporter as Exporter
    from agentfootprint.observe.export.port import ExportOptions as ExportOptions
    from agentfootprint.observe.export.port import Tier as Tier
    from agentfootprint.observe.live import LiveCall as LiveCall
    from agentfootprint.observe.live import LiveRun as LiveRun
    from agentfootprint.observe.live import LiveState as LiveState
    from agentfootprint.observe.live import LiveTool as LiveTool
    from agentfootprint.observe.live import LiveTurn as LiveTurn
    from agentfootprint.observe.otel.exporter import OtelExporter as OtelExporter
    from agentfootprint.observe.reviewing.player import Moment as Moment
    from agentfootprint.observe.reviewing.player import Player as Player
    from agentfootprint.observe.reviewing.player import Stop as Stop
    from agentfootprint.observe.reviewing.player import play as play
    from agentfootprint.observe.reviewing.recorder import Recordable as Recordable
    from agentfootprint.observe.reviewing.recorder import RunRecorder as RunRecorder
    from agentfootprint.observe.reviewing.recorder import record_run as record_run
    from agentfootprint.observe.views.caching import CacheMeter as CacheMeter
    from agentfootprint.observe.views.caching import CacheReport as CacheReport
    from agentfootprint.observe.views.checkins import CheckInLog as CheckInLog
    from agentfootprint.observe.views.costs import CostExporter as CostExporter
    from agentfootprint.observe.views.costs import CostLine as CostLine
    from agentfootprint.observe.views.costs import CostSink as CostSink
    from agentfootprint.observe.views.costs import InMemoryCostSink as InMemoryCostSink
    from agentfootprint.observe.views.costs import cost_line as cost_line
    from agentfootprint.observe.views.engineering import context_engineering as context_engineering
    from agentfootprint.observe.views.lineage import ToolLineage as ToolLineage
    from agentfootprint.observe.views.routes import RouteLog as RouteLog
    from agentfootprint.observe.views.steplog import StepLogger as StepLogger
    from agentfootprint.observe.views.tail import EventTail as EventTail
    from agentfootprint.observe.views.tail import Tail as Tail
    from agentfootprint.observe.views.thinking import ThinkingTrace as ThinkingTrace
    from agentfootprint.observe.wording.catalogues import DEFAULT_COMMENTARY as DEFAULT_COMMENTARY
    from agentfootprint.observe.wording.catalogues import DEFAULT_STATUS as DEFAULT_STATUS
    from agentfootprint.observe.wording.catalogues import commentary_messages as commentary_messages
    from agentfootprint.observe.wording.catalogues import status_messages as status_messages
    from agentfootprint.observe.wording.clauses import extract_commentary_vars as extract_commentary_vars
    from agentfootprint.observe.wording.commentary import comment_on as comment_on
    from agentfootprint.observe.wording.commentary import render_commentary as render_commentary
    from agentfootprint.observe.wording.commentary import select_commentary_key as select_commentary_key
    from agentfootprint.observe.wording.messages import compose_messages as compose_messages
    from agentfootprint.observe.wording.messages import validate_messages as validate_messages
    from agentfootprint.observe.wording.phrases import StatusPhrases as StatusPhrases
    from agentfootprint.observe.wording.status import StatusLine as StatusLine
    from agentfootprint.observe.wording.status import StatusState as StatusState
    from agentfootprint.observe.wording.status import render_status as render_status
    from agentfootprint.observe.wording.status import select_status as select_status
else:
    from agentfootprint._lazy import door

    # fmt: off
    __getattr__, __dir__ = door(
        __name__,
        {name: f"agentfootprint.observe.{module}" for module, names in {
            "audit.canonical": ("canonical_json",),
            "audit.checking": ("AuditVerification", "FailedCheck", "SignatureState", "verify_audit"),
            "audit.exporter": ("AuditExporter",),
            "audit.reading": ("verify_audit_files",),
            "console": ("ConsoleExporter",),
            "errors": ("AuditFileError", "AuditKeyError", "EventFileError", "ExportFailedError"),
            "export.attaching": ("ExportSubscription", "Subscribe", "attach_exporter"),
            "export.combining": ("combine_exporters",),
            "export.files": ("FileExporter",),
            "export.port": ("ExportOptions", "Exporter", "Tier"),
            "live": ("LiveCall", "LiveRun", "LiveState", "LiveTool", "LiveTurn"),
            "otel.exporter": ("OtelExporter",),
            "boundaries.counting": ("Aggregate",),
            "boundaries.graph": ("StepGraph", "StepGraphBuilder", "build_step_graph"),
            "boundaries.happenings": ("DomainEvent", "domain_event"),
            "boundaries.local": ("LocalWatch", "observe_locally"),
            "boundaries.log": ("BoundaryLog",),
            "boundaries.milestones": ("Milestone", "milestone_for", "slot_of", "stage_role"),
            "boundaries.redacting": ("redact_content",),
            "boundaries.stops": ("RunStep", "build_run_steps"),
            "boundaries.traces": ("TraceFile", "to_trace_file"),
            "views.caching": ("CacheMeter", "CacheReport"),
            "views.checkins": ("CheckInLog",),
            "views.costs": ("CostExporter", "CostLine", "CostSink", "InMemoryCostSink", "cost_line"),
            "views.engineering": ("context_engineering",),
            "views.lineage": ("ToolLineage",),
            "reviewing.player": ("Moment", "Player", "Stop", "play"),
            "reviewing.recorder": ("Recordable", "RunRecorder", "record_run"),
            "views.routes": ("RouteLog",),
            "views.steplog": ("StepLogger",),
            "views.tail": ("EventTail", "Tail"),
            "views.thinking": ("ThinkingTrace",),
            "wording.catalogues": ("DEFAULT_COMMENTARY", "DEFAULT_STATUS", "commentary_messages", "status_messages"),
            "wording.clauses": ("extract_commentary_vars",),
            "wording.commentary": ("comment_on", "render_commentary", "select_commentary_key"),
            "wording.messages": ("compose_messages", "validate_messages"),
            "wording.phrases": ("StatusPhrases",),
            "wording.status": ("StatusLine", "StatusState", "render_status", "select_status"),
        }.items() for name in names},
    )
    # fmt: on

__all__ = [
    "AuditExporter",
    "AuditVerification",
    "CacheMeter",
    "CheckInLog",
    "ConsoleExporter",
    "ExportOptions",
    "Exporter",
    "FileExporter",
    "LiveState",
    "OtelExporter",
    "RouteLog",
    "StatusLine",
    "ToolLineage",
    "build_run_steps",
    "build_step_graph",
    "combine_exporters",
    "verify_audit",
]
