"""The spans of what an agent calls: models, tools, embeddings, retrievals (chapter 6.1).

Invariants: a model call is known by its stage address, a tool call by its id and its place in the batch; times are the
events' own; content stands on a span only under the option that asks for it.
"""

from __future__ import annotations

from typing import Any, Final

from msgspec import UNSET
from opentelemetry.trace import SpanKind, Tracer

from agentfootprint.events import Event
from agentfootprint.observe.otel import content, names, notes
from agentfootprint.observe.otel.dials import Dials
from agentfootprint.observe.otel.reading import (
    Attributes,
    field,
    items,
    moment,
    number,
    rows,
    text,
    usage_of,
    value_type,
)
from agentfootprint.observe.otel.spans import OpenModel, OpenSpan, OpenTool, Place

__all__ = ["Calls"]

_NS_PER_MS: Final = 1_000_000


class Calls:
    """Makes the spans of calls.

    Args:
        tracer: Starts spans.
        dials: What the exporter was told.
    """

    def __init__(self, tracer: Tracer, dials: Dials) -> None:
        self._tracer = tracer
        self._dials = dials

    def model_start(self, root: Place, event: Event[Any], place: Place) -> None:
        """A model call begins."""
        payload = event.payload
        model, provider = text(payload, "model"), text(payload, "provider")
        asked: Attributes = {}
        if provider is not None:
            asked[names.PROVIDER] = provider
        if model is not None:
            asked[names.REQUEST_MODEL] = model
        if not root.asked:
            root.asked = True
            root.span.put(asked)
        attributes: Attributes = {names.OPERATION: names.CHAT, **asked}
        temperature = number(payload, "temperature")
        if temperature is not None:
            attributes[names.REQUEST_TEMPERATURE] = temperature
        if self._dials.capture_content:
            self._put_request(attributes, payload, place)
        name = f"{names.CHAT} {model or ''}".rstrip() if self._dials.gen_ai_names else "llm"
        under = place.inner.under
        span = OpenSpan(self._tracer, name, under=under, at=moment(event), attributes=attributes, kind=SpanKind.CLIENT)
        span.enter()
        place.models[event.meta.runtime_stage_id] = OpenModel(span, provider)

    def _put_request(self, attributes: Attributes, payload: object, place: Place) -> None:
        """What the model is given, where it is known to be exactly this."""
        system = field(payload, "system_prompt_text")
        if isinstance(system, str):
            content.put_content(attributes, names.SYSTEM_INSTRUCTIONS, [{"type": "text", "content": system}])
        tools = rows(payload, "tools")
        if tools:
            content.put_content(attributes, names.TOOL_DEFINITIONS, content.definitions_of(tools))
        known = place.history
        if known is None and place.prompt is not None:
            known = ({"role": "user", "content": place.prompt},)
        if known is not None and len(known) == field(payload, "messages_count"):
            content.put_content(attributes, names.INPUT_MESSAGES, content.messages_of(known))

    def model_end(self, event: Event[Any], place: Place) -> None:
        """A model call returned."""
        model = place.model_at(event.meta.runtime_stage_id)
        if model is None:
            return
        payload, span = event.payload, model.span
        usage = usage_of(field(payload, "usage"), model.provider)
        place.spend(usage)
        attributes: Attributes = {}
        if usage.known:
            attributes[names.INPUT_TOKENS], attributes[names.OUTPUT_TOKENS] = usage.totals()
            for key, count in (
                (names.CACHE_READ_TOKENS, usage.cache_read),
                (names.CACHE_WRITE_TOKENS, usage.cache_write),
                (names.REASONING_TOKENS, usage.thinking),
            ):
                if count is not None:
                    attributes[key] = count
        reason = text(payload, "stop_reason")
        if reason is not None:
            attributes[names.FINISH_REASONS] = [reason]
        response = text(payload, "provider_response_ref")
        if response is not None:
            attributes[names.RESPONSE_ID] = response
        span.put(attributes)
        if self._dials.capture_content:
            said = field(payload, "content")
            model.ended, model.stop_reason = moment(event), reason
            model.said = said if isinstance(said, str) and field(payload, "content_withheld") is not True else None
            span.leave()
        else:
            span.end(moment(event))
            del place.models[event.meta.runtime_stage_id]

    @staticmethod
    def settle(place: Place, at: int) -> None:
        """With content: write down what the replies were, now that their calls are known, and end their spans."""
        for address, model in tuple(place.models.items()):
            if model.ended is None:
                continue
            attributes: Attributes = {}
            answer = content.answer_of(model.said, model.calls, model.stop_reason)
            content.put_content(attributes, names.OUTPUT_MESSAGES, answer)
            model.span.put(attributes)
            model.span.end(min(model.ended, at))
            del place.models[address]

    def tool_start(self, event: Event[Any], place: Place) -> None:
        """A call is taken up."""
        payload, at = event.payload, moment(event)
        if field(payload, "not_dispatched") is not None:
            if self._dials.explain:
                place.inner.tell(*notes.not_dispatched(payload), at)
            return
        name, call_id, args = text(payload, "tool_name") or "", field(payload, "tool_call_id"), field(payload, "args")
        attributes: Attributes = {
            names.OUR_TOOL_NAME: name,
            names.OPERATION: names.EXECUTE_TOOL,
            names.TOOL_NAME: name,
            names.TOOL_TYPE: "function",
            names.TOOL_ARG_KEYS: items(args) if hasattr(args, "keys") else [],
        }
        if isinstance(call_id, str):
            attributes[names.TOOL_CALL_ID] = call_id
        protocol = text(payload, "protocol")
        if protocol is not None:
            attributes[names.TOOL_PROTOCOL] = protocol
        title = f"{names.EXECUTE_TOOL} {name}" if self._dials.gen_ai_names else f"tool:{name}"
        span = OpenSpan(self._tracer, title, under=place.inner.under, at=at, attributes=attributes)
        if field(payload, "parallel_count") is None:  # side by side: the task that announces them runs none of them
            span.enter()
        place.tools.append(OpenTool(span, call_id, event.meta.tool_ordinal, args))
        if self._dials.capture_content and place.models:
            next(reversed(place.models.values())).calls.append(content.call_part(call_id, name, args))

    def tool_end(self, event: Event[Any], place: Place) -> bool:
        """A call settled; says whether it is one that began here."""
        payload = event.payload
        if field(payload, "not_dispatched") is not None:
            return True
        call_id = field(payload, "tool_call_id")
        tool = place.tool(call_id, event.meta.tool_ordinal)
        if tool is None:
            return False
        place.tools.remove(tool)
        failed = field(payload, "error") is True
        attributes: Attributes = {}
        result: Any = field(payload, "result")
        if _has(payload, "result"):
            attributes[names.TOOL_RESULT_TYPE] = value_type(result)
        if failed:
            attributes[names.ERROR_TYPE] = names.OTHER_ERROR
            tool.span.fail()
        elif self._dials.capture_tool_content:
            changed = rows(payload, "changed_arg_keys") or ()
            content.put_content(attributes, names.TOOL_ARGUMENTS, content.arguments_of(tool.args, changed))
            if _has(payload, "result"):
                content.put_content(attributes, names.TOOL_RESULT, result)
        tool.span.put(attributes)
        tool.span.end(moment(event))
        return True

    def embedding(self, event: Event[Any], place: Place) -> None:
        """A text was embedded."""
        payload = event.payload
        model = text(payload, "model") or ""
        attributes: Attributes = {names.OPERATION: names.EMBEDDINGS, names.REQUEST_MODEL: model}
        for key, found in (
            (names.PROVIDER, text(payload, "provider")),
            (names.EMBEDDING_DIMENSIONS, number(payload, "dimension")),
            (names.INPUT_TOKENS, number(payload, "tokens_spent")),
        ):
            if found is not None:
                attributes[key] = found
        self._past(place, event, f"{names.EMBEDDINGS} {model}".rstrip(), attributes, SpanKind.CLIENT)

    def retrieval(self, event: Event[Any], place: Place) -> None:
        """A memory was searched."""
        payload = event.payload
        attributes: Attributes = {names.OPERATION: names.RETRIEVAL}
        for key, name in ((names.CONSIDERED_COUNT, "considered_count"), (names.RESULT_COUNT, "admitted_count")):
            count = number(payload, name)
            if count is not None:
                attributes[key] = count
        strategy = text(payload, "strategy") or ""
        self._past(place, event, f"{names.RETRIEVAL} {strategy}".rstrip(), attributes, SpanKind.INTERNAL)

    def _past(self, place: Place, event: Event[Any], name: str, attributes: Attributes, kind: SpanKind) -> None:
        """A span of something that is already over."""
        at = moment(event)
        took = number(event.payload, "duration_ms") or 0
        began = at - int(took * _NS_PER_MS)
        OpenSpan(self._tracer, name, under=place.inner.under, at=began, attributes=attributes, kind=kind).end(at)


def _has(payload: object, name: str) -> bool:
    """Whether a field is there, be it null."""
    return getattr(payload, name, UNSET) is not UNSET
