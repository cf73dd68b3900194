"""The recording of a run: everything that happened, each thing once, in memory, in a file, in either form."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agentfootprint.recording.cursor import EventCursor as EventCursor
    from agentfootprint.recording.derived import SOURCE_BY_ROLE as SOURCE_BY_ROLE
    from agentfootprint.recording.derived import MessageRows as MessageRows
    from agentfootprint.recording.derived import carried_over as carried_over
    from agentfootprint.recording.derived import fresh_rows as fresh_rows
    from agentfootprint.recording.derived import source_of_message as source_of_message
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
    from agentfootprint.recording.questions.calls import ModelCall as ModelCall
    from agentfootprint.recording.questions.calls import PromptPiece as PromptPiece
    from agentfootprint.recording.questions.calls import SentMessages as SentMessages
    from agentfootprint.recording.questions.uses import ActivePiece as ActivePiece
    from agentfootprint.recording.questions.uses import Evaluation as Evaluation
    from agentfootprint.recording.questions.uses import Gate as Gate
    from agentfootprint.recording.questions.uses import ToolUse as ToolUse
    from agentfootprint.recording.recorded import Recording as Recording
    from agentfootprint.recording.sinks import FileRecordingSink as FileRecordingSink
    from agentfootprint.recording.sinks import RecordingSink as RecordingSink
    from agentfootprint.recording.sinks import StoredRecording as StoredRecording
    from agentfootprint.recording.sinks import persist_recording as persist_recording
    from agentfootprint.recording.sinks import recording_file_name as recording_file_name
    from agentfootprint.recording.writing import write_file as write_file
else:
    from agentfootprint._lazy import door

    # fmt: off
    __getattr__, __dir__ = door(
        __name__,
        {name: f"agentfootprint.recording.{module}" for module, names in {
            "questions.calls": ("ModelCall", "PromptPiece", "SentMessages"),
            "cursor": ("EventCursor",),
            "derived": ("SOURCE_BY_ROLE", "MessageRows", "carried_over", "fresh_rows", "source_of_message"),
            "envelope": ("FULL_PRIVACY_POLICY_ID", "RunFacts", "StatedFacts", "build_recording_envelope"),
            "errors": (
                "FileProblemError", "IndeterminateRunFactError", "NotARecordingError", "RecordingTooLargeError",
                "UnknownDerivedValueError", "UnsafeRecordingIdError", "UnsupportedPrivacyModeError",
                "UnsupportedRecordingFormatError",
            ),
            "feed": ("EventFeed",),
            "recorded": ("Recording",),
            "sinks": (
                "FileRecordingSink", "RecordingSink", "StoredRecording", "persist_recording", "recording_file_name",
            ),
            "writing": ("write_file",),
            "questions.uses": ("ActivePiece", "Evaluation", "Gate", "ToolUse"),
        }.items() for name in names},
    )
    # fmt: on

__all__ = [
    "FileRecordingSink",
    "IndeterminateRunFactError",
    "Recording",
    "RecordingSink",
    "RunFacts",
    "StoredRecording",
    "UnsafeRecordingIdError",
    "UnsupportedRecordingFormatError",
    "persist_recording",
]
