"""The recording of a run: everything that happened, each thing once, in memory, in a file, in either form."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agentfootprint.observe import RunRecorder as RunRecorder
    from agentfootprint.observe import TraceFile as TraceFile
    from agentfootprint.observe import record_run as record_run
    from agentfootprint.observe import redact_content as redact_content
    from agentfootprint.observe import to_trace_file as to_trace_file
    from agentfootprint.recording.cursor import EventCursor as EventCursor
    from agentfootprint.recording.derived import SOURCE_BY_ROLE as SOURCE_BY_ROLE
    from agentfootprint.recording.derived import MessageRows as MessageRows
    from agentfootprint.recording.derived import carried_over as carried_over
    from agentfootprint.recording.derived import fresh_rows as fresh_rows
    from agentfootprint.recording.derived import source_of_message as source_of_message
    from agentfootprint.recording.embeddings import summarize_embeddings as summarize_embeddings
    from agentfootprint.recording.envelope import FULL_PRIVACY_POLICY_ID as FULL_PRIVACY_POLICY_ID
    from agentfootprint.recording.envelope import RunFacts as RunFacts
    from agentfootprint.recording.envelope import StatedFacts as StatedFacts
    from agentfootprint.recording.envelope import build_recording_envelope as build_recording_envelope
    from agentfootprint.recording.errors import FileProblemError as FileProblemError
    from agentfootprint.recording.errors import IndeterminateRunFactError as IndeterminateRunFactError
    from agentfootprint.recording.errors import NotARecordingError as NotARecordingError
    from agentfootprint.recording.errors import RecordingTooLargeError as RecordingTooLargeError
    from agentfootprint.recording.errors import UnknownDerivedValueError as UnknownDerivedValueError
    from agentfootprint.recording.errors import UnsafeRecordingIdError as UnsafeRecordingIdError
    from agentfootprint.recording.errors import UnsupportedPrivacyModeError as UnsupportedPrivacyModeError
    from agentfootprint.recording.errors import UnsupportedRecordingFormatError as UnsupportedRecordingFormatError
    from agentfootprint.recording.feed import EventFeed as EventFeed
    from agentfootprint.recording.feed import join_tokens as join_tokens
    from agentfootprint.recording.native.held import Place as Place
    from agentfootprint.recording.native.held import hold as hold
    from agentfootprint.recording.questions.calls import ModelCall as ModelCall
    from agentfootprint.recording.questions.calls import PromptPiece as PromptPiece
    from agentfootprint.recording.questions.calls import SentMessages as SentMessages
    from agentfootprint.recording.questions.parts import Part as Part
    from agentfootprint.recording.questions.uses import ActivePiece as ActivePiece
    from agentfootprint.recording.questions.uses import Evaluation as Evaluation
    from agentfootprint.recording.questions.uses import Gate as Gate
    from agentfootprint.recording.questions.uses import ToolUse as ToolUse
    from agentfootprint.recording.recorded import Recording as Recording
    from agentfootprint.recording.redacting.covering import Cover as Cover
    from agentfootprint.recording.redacting.marking import kept_out_words as kept_out_words
    from agentfootprint.recording.redacting.serving import serve_covered as serve_covered
    from agentfootprint.recording.sinks import FileRecordingSink as FileRecordingSink
    from agentfootprint.recording.sinks import RecordingSink as RecordingSink
    from agentfootprint.recording.sinks import StoredRecording as StoredRecording
    from agentfootprint.recording.sinks import persist_recording as persist_recording
    from agentfootprint.recording.sinks import recording_file_name as recording_file_name
    from agentfootprint.recording.spilling.source import Spill as Spill
    from agentfootprint.recording.writing import write_file as write_file
else:
    from agentfootprint._lazy import door

    # fmt: off
    __getattr__, __dir__ = door(
        __name__,
        {name: f"agentfootprint.recording.{module}" for module, names in {
            "questions.calls": ("ModelCall", "PromptPiece", "SentMessages"),
            "questions.parts": ("Part",),
            "cursor": ("EventCursor",),
            "derived": ("SOURCE_BY_ROLE", "MessageRows", "carried_over", "fresh_rows", "source_of_message"),
            "embeddings": ("summarize_embeddings",),
            "envelope": ("FULL_PRIVACY_POLICY_ID", "RunFacts", "StatedFacts", "build_recording_envelope"),
            "errors": (
                "FileProblemError", "IndeterminateRunFactError", "NotARecordingError", "RecordingTooLargeError",
                "UnknownDerivedValueError", "UnsafeRecordingIdError", "UnsupportedPrivacyModeError",
                "UnsupportedRecordingFormatError",
            ),
            "feed": ("EventFeed", "join_tokens"),
            "recorded": ("Recording",),
            "redacting.covering": ("Cover",),
            "redacting.marking": ("kept_out_words",),
            "redacting.serving": ("serve_covered",),
            "sinks": (
                "FileRecordingSink", "RecordingSink", "StoredRecording", "persist_recording", "recording_file_name",
            ),
            "native.held": ("Place", "hold"),
            "spilling.source": ("Spill",),
            "writing": ("write_file",),
            "questions.uses": ("ActivePiece", "Evaluation", "Gate", "ToolUse"),
        }.items() for name in names}
        | dict.fromkeys(  # they read boundaries too
            ("RunRecorder", "TraceFile", "record_run", "redact_content", "to_trace_file"), "agentfootprint.observe"
        ),
    )
    # fmt: on

__all__ = [
    "FileRecordingSink",
    "IndeterminateRunFactError",
    "Recording",
    "RecordingSink",
    "RunFacts",
    "RunRecorder",
    "StoredRecording",
    "TraceFile",
    "UnsafeRecordingIdError",
    "UnsupportedRecordingFormatError",
    "persist_recording",
    "record_run",
    "redact_content",
]
