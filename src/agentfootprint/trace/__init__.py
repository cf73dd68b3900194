"""Questions to a log: what was written where, by whom, from what."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agentfootprint.trace.bundle import AnyBundle as AnyBundle
    from agentfootprint.trace.bundle import CommitBundle as CommitBundle
    from agentfootprint.trace.bundle import TraceEntry as TraceEntry
    from agentfootprint.trace.bundle import as_bundle as as_bundle
    from agentfootprint.trace.bundle import as_list as as_list
    from agentfootprint.trace.bundle import as_object as as_object
    from agentfootprint.trace.bundle import dig as dig
    from agentfootprint.trace.bundle import payload_of as payload_of
    from agentfootprint.trace.crossing.asking import RunQuestions as RunQuestions
    from agentfootprint.trace.crossing.subtree import list_subflow_paths as list_subflow_paths
    from agentfootprint.trace.crossing.subtree import subtree_snapshot as subtree_snapshot
    from agentfootprint.trace.errors import DamagedRunLogError as DamagedRunLogError
    from agentfootprint.trace.errors import FilterListTooLongError as FilterListTooLongError
    from agentfootprint.trace.errors import InvalidIdError as InvalidIdError
    from agentfootprint.trace.errors import InvalidKeyError as InvalidKeyError
    from agentfootprint.trace.errors import MalformedBundleError as MalformedBundleError
    from agentfootprint.trace.errors import RunLogError as RunLogError
    from agentfootprint.trace.filters import FILTER_OPS as FILTER_OPS
    from agentfootprint.trace.filters import FilterCondition as FilterCondition
    from agentfootprint.trace.filters import FilterVerdict as FilterVerdict
    from agentfootprint.trace.filters import evaluate_filter as evaluate_filter
    from agentfootprint.trace.ids import BRANCH_SEGMENT_MARKER as BRANCH_SEGMENT_MARKER
    from agentfootprint.trace.ids import INERT_SEGMENTS as INERT_SEGMENTS
    from agentfootprint.trace.ids import PATH_DELIMITER as PATH_DELIMITER
    from agentfootprint.trace.ids import ROOT_RUNTIME_STAGE_ID as ROOT_RUNTIME_STAGE_ID
    from agentfootprint.trace.ids import ROOT_STAGE_ID as ROOT_STAGE_ID
    from agentfootprint.trace.ids import BranchSegment as BranchSegment
    from agentfootprint.trace.ids import RuntimeStageId as RuntimeStageId
    from agentfootprint.trace.ids import StageIdParts as StageIdParts
    from agentfootprint.trace.ids import build_branch_segment as build_branch_segment
    from agentfootprint.trace.ids import build_runtime_stage_id as build_runtime_stage_id
    from agentfootprint.trace.ids import has_branch_segment_marker as has_branch_segment_marker
    from agentfootprint.trace.ids import is_branch_segment as is_branch_segment
    from agentfootprint.trace.ids import join_path as join_path
    from agentfootprint.trace.ids import parse_branch_segment as parse_branch_segment
    from agentfootprint.trace.ids import parse_runtime_stage_id as parse_runtime_stage_id
    from agentfootprint.trace.ids import path_of as path_of
    from agentfootprint.trace.ids import split_path as split_path
    from agentfootprint.trace.ids import split_stage_id as split_stage_id
    from agentfootprint.trace.log import LogIndex as LogIndex
    from agentfootprint.trace.log import find_commit as find_commit
    from agentfootprint.trace.log import find_commits as find_commits
    from agentfootprint.trace.log import find_last_writer as find_last_writer
    from agentfootprint.trace.log import index_of as index_of
    from agentfootprint.trace.log import value_at as value_at
    from agentfootprint.trace.questions.births import ArrayProvenance as ArrayProvenance
    from agentfootprint.trace.questions.births import ElementBirth as ElementBirth
    from agentfootprint.trace.questions.births import array_provenance as array_provenance
    from agentfootprint.trace.questions.births import element_provenance as element_provenance
    from agentfootprint.trace.questions.chain import CausalEdge as CausalEdge
    from agentfootprint.trace.questions.chain import CausalNode as CausalNode
    from agentfootprint.trace.questions.chain import ChainOptions as ChainOptions
    from agentfootprint.trace.questions.chain import Truncated as Truncated
    from agentfootprint.trace.questions.chain import Weigher as Weigher
    from agentfootprint.trace.questions.chain import causal_chain as causal_chain
    from agentfootprint.trace.questions.chain import flatten_causal_chain as flatten_causal_chain
    from agentfootprint.trace.questions.chain import format_causal_chain as format_causal_chain
    from agentfootprint.trace.questions.chain import walk_chain as walk_chain
    from agentfootprint.trace.questions.forward import FedEdge as FedEdge
    from agentfootprint.trace.questions.forward import ForwardNode as ForwardNode
    from agentfootprint.trace.questions.forward import ForwardSlice as ForwardSlice
    from agentfootprint.trace.questions.forward import StepRef as StepRef
    from agentfootprint.trace.questions.forward import format_forward_slice as format_forward_slice
    from agentfootprint.trace.questions.forward import forward_slice_for_key as forward_slice_for_key
    from agentfootprint.trace.questions.forward import forward_slice_to_json as forward_slice_to_json
    from agentfootprint.trace.questions.notes import Note as Note
    from agentfootprint.trace.questions.quality import QualityDrop as QualityDrop
    from agentfootprint.trace.questions.quality import QualityFrame as QualityFrame
    from agentfootprint.trace.questions.quality import QualityScore as QualityScore
    from agentfootprint.trace.questions.quality import QualityTrace as QualityTrace
    from agentfootprint.trace.questions.quality import format_quality_trace as format_quality_trace
    from agentfootprint.trace.questions.quality import quality_trace as quality_trace
    from agentfootprint.trace.questions.quality import quality_trace_to_json as quality_trace_to_json
    from agentfootprint.trace.questions.slice import VariableSlice as VariableSlice
    from agentfootprint.trace.questions.slice import format_slice as format_slice
    from agentfootprint.trace.questions.slice import slice_for_key as slice_for_key
    from agentfootprint.trace.questions.slice import slice_key as slice_key
    from agentfootprint.trace.questions.slice import slice_to_json as slice_to_json
    from agentfootprint.trace.questions.sources import ControlDep as ControlDep
    from agentfootprint.trace.questions.sources import ControlDeps as ControlDeps
    from agentfootprint.trace.questions.sources import ControlLookup as ControlLookup
    from agentfootprint.trace.questions.sources import KeysReadSource as KeysReadSource
    from agentfootprint.trace.questions.sources import ReadsCoverage as ReadsCoverage
    from agentfootprint.trace.questions.sources import ReadsLookup as ReadsLookup
    from agentfootprint.trace.questions.sources import keys_read_from_execution_tree as keys_read_from_execution_tree
    from agentfootprint.trace.questions.sources import keys_read_from_map as keys_read_from_map
    from agentfootprint.trace.questions.timeline import KeyTimeline as KeyTimeline
    from agentfootprint.trace.questions.timeline import Moment as Moment
    from agentfootprint.trace.questions.timeline import format_timeline as format_timeline
    from agentfootprint.trace.questions.timeline import key_timeline as key_timeline
    from agentfootprint.trace.questions.timeline import timeline_to_json as timeline_to_json
    from agentfootprint.trace.redacting import PLACEHOLDER as PLACEHOLDER
    from agentfootprint.trace.redacting import REDACTED as REDACTED
    from agentfootprint.trace.redacting import HiddenField as HiddenField
    from agentfootprint.trace.redacting import hide_at as hide_at
    from agentfootprint.trace.redacting import hide_names as hide_names
    from agentfootprint.trace.redacting import redact_patch as redact_patch
    from agentfootprint.trace.replay import apply_smart_merge as apply_smart_merge
    from agentfootprint.trace.replay import deep_smart_merge as deep_smart_merge
    from agentfootprint.trace.replay import materialise as materialise
    from agentfootprint.trace.replay import update_value as update_value
    from agentfootprint.trace.rows.fold import Commit as Commit
    from agentfootprint.trace.rows.fold import Fold as Fold
    from agentfootprint.trace.rows.fold import seed_of as seed_of
    from agentfootprint.trace.rows.journal import CHILD as CHILD
    from agentfootprint.trace.rows.journal import ENTRY as ENTRY
    from agentfootprint.trace.rows.journal import NATIVE as NATIVE
    from agentfootprint.trace.rows.journal import NEXT as NEXT
    from agentfootprint.trace.rows.journal import RESUME as RESUME
    from agentfootprint.trace.rows.journal import BrokeRow as BrokeRow
    from agentfootprint.trace.rows.journal import DecidedRow as DecidedRow
    from agentfootprint.trace.rows.journal import Detail as Detail
    from agentfootprint.trace.rows.journal import Dials as Dials
    from agentfootprint.trace.rows.journal import EmittedRow as EmittedRow
    from agentfootprint.trace.rows.journal import Execution as Execution
    from agentfootprint.trace.rows.journal import FailedRow as FailedRow
    from agentfootprint.trace.rows.journal import GrewRow as GrewRow
    from agentfootprint.trace.rows.journal import Journal as Journal
    from agentfootprint.trace.rows.journal import MappedRow as MappedRow
    from agentfootprint.trace.rows.journal import NotedRow as NotedRow
    from agentfootprint.trace.rows.journal import Op as Op
    from agentfootprint.trace.rows.journal import PausedRow as PausedRow
    from agentfootprint.trace.rows.journal import ResumedRow as ResumedRow
    from agentfootprint.trace.rows.journal import RetriedRow as RetriedRow
    from agentfootprint.trace.rows.journal import SeededRow as SeededRow
    from agentfootprint.trace.rows.journal import SelectedRow as SelectedRow
    from agentfootprint.trace.rows.journal import StageInfo as StageInfo
    from agentfootprint.trace.rows.projection import JournalIndex as JournalIndex
    from agentfootprint.trace.rows.projection import Version as Version
    from agentfootprint.trace.rows.projection import as_bundle_of as as_bundle_of
    from agentfootprint.trace.rows.projection import fits_by_field as fits_by_field
    from agentfootprint.trace.rows.projection import is_strict_prefix as is_strict_prefix
    from agentfootprint.trace.rows.projection import project_commit_log as project_commit_log
    from agentfootprint.trace.rows.projection import project_commit_logs as project_commit_logs
    from agentfootprint.trace.rows.projection import project_control_deps as project_control_deps
    from agentfootprint.trace.rows.projection import project_reads as project_reads
    from agentfootprint.trace.rows.projection import project_state as project_state
    from agentfootprint.trace.rows.projection import rule_label as rule_label
    from agentfootprint.trace.rows.references import SHORT_TEXT as SHORT_TEXT
    from agentfootprint.trace.rows.references import Address as Address
    from agentfootprint.trace.rows.references import ValueWriter as ValueWriter
    from agentfootprint.trace.rows.references import is_plain as is_plain
    from agentfootprint.trace.rows.shown import cover as cover
    from agentfootprint.trace.rows.shown import redacted_journal as redacted_journal
    from agentfootprint.trace.rows.stages import check_links as check_links
    from agentfootprint.trace.rows.stages import stage_from_wire as stage_from_wire
    from agentfootprint.trace.rows.stages import stage_to_wire as stage_to_wire
    from agentfootprint.trace.rows.tree import project_snapshot as project_snapshot
    from agentfootprint.trace.rows.tree import project_subflow_results as project_subflow_results
    from agentfootprint.trace.rows.tree import project_tree as project_tree
    from agentfootprint.trace.rows.veil import Policy as Policy
    from agentfootprint.trace.rows.veil import Veil as Veil
    from agentfootprint.trace.runlog.opened import RunLog as RunLog
    from agentfootprint.trace.runlog.opened import open_run_log as open_run_log
    from agentfootprint.trace.runlog.writing import LineWriter as LineWriter
    from agentfootprint.trace.runlog.writing import header_line as header_line
    from agentfootprint.trace.stores import CommitRange as CommitRange
    from agentfootprint.trace.stores import CommitRangeIndex as CommitRangeIndex
    from agentfootprint.trace.stores import EntryRange as EntryRange
    from agentfootprint.trace.stores import KeyedStore as KeyedStore
    from agentfootprint.trace.stores import RangeToken as RangeToken
    from agentfootprint.trace.stores import SequenceStore as SequenceStore
    from agentfootprint.trace.summary import payload_summary as payload_summary
    from agentfootprint.trace.summary import read_marker as read_marker
    from agentfootprint.trace.summary import scalar_text as scalar_text
    from agentfootprint.trace.summary import summarize_value as summarize_value
    from agentfootprint.trace.summary import write_marker as write_marker
    from agentfootprint.trace.text import compact_json as compact_json
    from agentfootprint.trace.text import fnv1a as fnv1a
    from agentfootprint.trace.text import truncate_utf16 as truncate_utf16
    from agentfootprint.trace.text import utf16_length as utf16_length
    from agentfootprint.trace.text import wire_key as wire_key
    from agentfootprint.trace.values import ABSENT as ABSENT
    from agentfootprint.trace.values import Absent as Absent
    from agentfootprint.trace.values import FrozenDict as FrozenDict
    from agentfootprint.trace.values import FrozenList as FrozenList
    from agentfootprint.trace.values import Json as Json
    from agentfootprint.trace.values import JsonObject as JsonObject
    from agentfootprint.trace.values import Record as Record
    from agentfootprint.trace.values import Value as Value
    from agentfootprint.trace.values import ValueRefusedError as ValueRefusedError
    from agentfootprint.trace.values import View as View
    from agentfootprint.trace.values import deep_equal as deep_equal
    from agentfootprint.trace.values import freeze as freeze
    from agentfootprint.trace.values import thaw as thaw
else:
    from agentfootprint._lazy import door

    # fmt: off
    __getattr__, __dir__ = door(
        __name__,
        {name: f"agentfootprint.trace.{module}" for module, names in {
            "questions.births": (
                "ArrayProvenance", "ElementBirth", "array_provenance", "element_provenance",
            ),
            "bundle": (
                "AnyBundle", "CommitBundle", "TraceEntry", "as_bundle", "as_list", "as_object", "dig", "payload_of",
            ),
            "crossing.asking": (
                "RunQuestions",
            ),
            "crossing.subtree": (
                "list_subflow_paths", "subtree_snapshot",
            ),
            "questions.chain": (
                "CausalEdge", "CausalNode", "ChainOptions", "Truncated", "Weigher", "causal_chain",
                "flatten_causal_chain", "format_causal_chain", "walk_chain",
            ),
            "errors": (
                "DamagedRunLogError", "FilterListTooLongError", "InvalidIdError", "InvalidKeyError",
                "MalformedBundleError", "RunLogError",
            ),
            "filters": (
                "FILTER_OPS", "FilterCondition", "FilterVerdict", "evaluate_filter",
            ),
            "rows.fold": (
                "Commit", "Fold", "seed_of",
            ),
            "questions.forward": (
                "FedEdge", "ForwardNode", "ForwardSlice", "StepRef", "format_forward_slice", "forward_slice_for_key",
                "forward_slice_to_json",
            ),
            "ids": (
                "BRANCH_SEGMENT_MARKER", "INERT_SEGMENTS", "PATH_DELIMITER", "ROOT_RUNTIME_STAGE_ID", "ROOT_STAGE_ID",
                "BranchSegment", "RuntimeStageId", "StageIdParts", "build_branch_segment", "build_runtime_stage_id",
                "has_branch_segment_marker", "is_branch_segment", "join_path", "parse_branch_segment",
                "parse_runtime_stage_id", "path_of", "split_path", "split_stage_id",
            ),
            "rows.journal": (
                "CHILD", "ENTRY", "NATIVE", "NEXT", "RESUME", "BrokeRow", "DecidedRow", "Detail", "Dials",
                "EmittedRow", "Execution", "FailedRow", "GrewRow", "Journal", "MappedRow", "NotedRow", "Op",
                "PausedRow", "ResumedRow", "RetriedRow", "SeededRow", "SelectedRow", "StageInfo",
            ),
            "log": (
                "LogIndex", "find_commit", "find_commits", "find_last_writer", "index_of", "value_at",
            ),
            "rows.projection": (
                "JournalIndex", "Version", "as_bundle_of", "fits_by_field", "is_strict_prefix", "project_commit_log",
                "project_commit_logs", "project_control_deps", "project_reads", "project_state",
                "rule_label",
            ),
            "questions.notes": (
                "Note",
            ),
            "rows.references": (
                "SHORT_TEXT", "Address", "ValueWriter", "is_plain",
            ),
            "rows.stages": (
                "check_links", "stage_from_wire", "stage_to_wire",
            ),
            "runlog.opened": (
                "RunLog", "open_run_log",
            ),
            "runlog.writing": (
                "LineWriter", "header_line",
            ),
            "questions.quality": (
                "QualityDrop", "QualityFrame", "QualityScore", "QualityTrace", "format_quality_trace",
                "quality_trace", "quality_trace_to_json",
            ),
            "redacting": (
                "PLACEHOLDER", "REDACTED", "HiddenField", "hide_at", "hide_names", "redact_patch",
            ),
            "replay": (
                "apply_smart_merge", "deep_smart_merge", "materialise", "update_value",
            ),
            "questions.slice": (
                "VariableSlice", "format_slice", "slice_for_key", "slice_key", "slice_to_json",
            ),
            "questions.sources": (
                "ControlDep", "ControlDeps", "ControlLookup", "KeysReadSource", "ReadsCoverage", "ReadsLookup",
                "keys_read_from_execution_tree", "keys_read_from_map",
            ),
            "stores": (
                "CommitRange", "CommitRangeIndex", "EntryRange", "KeyedStore", "RangeToken", "SequenceStore",
            ),
            "summary": (
                "payload_summary", "read_marker", "scalar_text", "summarize_value", "write_marker",
            ),
            "text": (
                "compact_json", "fnv1a", "truncate_utf16", "utf16_length", "wire_key",
            ),
            "questions.timeline": (
                "KeyTimeline", "Moment", "format_timeline", "key_timeline", "timeline_to_json",
            ),
            "rows.shown": (
                "cover", "redacted_journal",
            ),
            "rows.veil": (
                "Policy", "Veil",
            ),
            "rows.tree": (
                "project_snapshot", "project_subflow_results", "project_tree",
            ),
            "values": (
                "ABSENT", "Absent", "FrozenDict", "FrozenList", "Json", "JsonObject", "Record", "Value",
                "ValueRefusedError", "View", "deep_equal", "freeze", "thaw",
            ),
        }.items() for name in names},
    )
    # fmt: on

__all__ = ["apply_smart_merge", "causal_chain", "slice_for_key"]
