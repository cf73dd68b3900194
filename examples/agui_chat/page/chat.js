// The page: what the user says goes out as a run of the thread, what comes back is shown as it comes.
// Everything from the server is set as text, never as markup.
import { events } from "./stream.js";

const URL_OF_AGENT = "api/agent";
const NAMES = { user: "You", assistant: "Assistant", tool: "Tool" };
const THREAD = crypto.randomUUID(); // a reload begins a new one

const at = (id) => document.getElementById(id);
const copyOf = (id) => at(id).content.firstElementChild.cloneNode(true);
const within = (node, name) => node.querySelector(`.${name}`);

const messages = new Map(); // id -> its list item
const calls = new Map(); // id of a tool call -> its list item
let running = null; // what stops the run that is on its way

// Messages and tool calls, each made when it is first heard of

function messageOf(id, role) {
  if (!messages.has(id)) {
    const item = copyOf("message");
    item.dataset.role = role;
    within(item, "who").textContent = NAMES[role] ?? role;
    messages.set(id, item);
    at("messages").append(item);
  }
  return messages.get(id);
}

function callOf(id, name, parent) {
  if (!calls.has(id)) {
    const item = copyOf("call");
    within(item, "name").textContent = name;
    within(item, "state").textContent = "running";
    calls.set(id, item);
    within(messageOf(parent ?? `of-${id}`, "assistant"), "calls").append(item);
  }
  return calls.get(id);
}

function pretty(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text; // a tool may answer in words
  }
}

function setResult(callId, content, failed) {
  const item = calls.get(callId);
  if (!item) return;
  within(item, "result").textContent = pretty(content);
  within(item, "state").textContent = failed ? "failed" : "done";
  item.dataset.state = failed ? "failed" : "done";
}

// A snapshot is the whole thread: what is not in it is taken away

function show(thread) {
  const shown = new Set();
  for (const { id, role, content, toolCalls, toolCallId } of thread) {
    if (role === "tool") {
      setResult(toolCallId, content);
      continue;
    }
    shown.add(id);
    const item = messageOf(id, role);
    within(item, "text").textContent = textOf(content);
    for (const call of toolCalls ?? []) {
      within(callOf(call.id, call.function.name, id), "arguments").textContent = pretty(call.function.arguments);
    }
    at("messages").append(item);
  }
  for (const [id, item] of messages) {
    if (!shown.has(id) && messages.delete(id)) item.remove();
  }
}

function textOf(content) {
  return typeof content === "string" ? content : (content ?? []).map((part) => part.text ?? "").join("");
}

// What each event does

const HANDLERS = {
  STEP_STARTED: ({ stepName }) => (at("status").textContent = stepName),
  TEXT_MESSAGE_START: ({ messageId, role }) => messageOf(messageId, role),
  TEXT_MESSAGE_CONTENT: ({ messageId, delta }) => within(messages.get(messageId), "text").append(delta),
  TOOL_CALL_START: ({ toolCallId, toolCallName, parentMessageId }) => callOf(toolCallId, toolCallName, parentMessageId),
  TOOL_CALL_ARGS: ({ toolCallId, delta }) => within(calls.get(toolCallId), "arguments").append(delta),
  TOOL_CALL_END: ({ toolCallId }) => {
    const node = within(calls.get(toolCallId), "arguments");
    node.textContent = pretty(node.textContent);
  },
  TOOL_CALL_RESULT: ({ toolCallId, content, metadata }) =>
    setResult(toolCallId, content, metadata?.agentfootprint?.error === true),
  MESSAGES_SNAPSHOT: ({ messages: thread }) => show(thread),
  RUN_ERROR: ({ message }) => complain(message),
  RUN_FINISHED: ({ outcome }) => {
    if (outcome?.type === "interrupt") ask(outcome.interrupts);
    if (outcome?.type === "cancelled") complain("The run was cancelled.");
  },
};

function complain(words) {
  at("problem").textContent = words;
  at("problem").hidden = false;
}

// One run: a message of the user, or the answers to what the last run asked

async function run({ said, resume }) {
  const stop = (running = new AbortController());
  const messages = [];
  if (said) {
    const message = { id: crypto.randomUUID(), role: "user", content: said };
    within(messageOf(message.id, "user"), "text").textContent = said;
    messages.push(message);
  }
  at("problem").hidden = true;
  setBusy(true);
  const input = { threadId: THREAD, runId: crypto.randomUUID(), messages, resume };
  let ended = false;
  try {
    for await (const event of events(URL_OF_AGENT, { ...input, tools: [], context: [], state: {} }, stop.signal)) {
      HANDLERS[event.type]?.(event);
      ended ||= event.type === "RUN_FINISHED" || event.type === "RUN_ERROR";
      at("messages").lastElementChild?.scrollIntoView({ block: "nearest" });
    }
    if (!ended) complain("The connection ended before the answer did.");
  } catch (error) {
    complain(stop.signal.aborted ? "Stopped." : error.message);
  }
  running = null;
  setBusy(false);
}

function setBusy(busy) {
  at("status").textContent = busy ? "thinking" : "";
  at("send").hidden = busy;
  at("stop").hidden = !busy;
  at("text").disabled = busy || at("questions").childElementCount > 0;
  at("send").disabled = at("text").disabled;
  if (!at("text").disabled) at("text").focus();
}

// Questions: all are answered, then the run goes on

function ask(interrupts) {
  const answers = new Map();
  for (const interrupt of interrupts) {
    const card = copyOf("question");
    const decides = interrupt.responseSchema?.properties?.approved !== undefined;
    const call = calls.get(interrupt.toolCallId);
    if (call) within(call, "state").textContent = "waiting for you";
    card.querySelector("h2").textContent = decides ? "Your decision is needed" : "Your answer is needed";
    within(card, "text").textContent = interrupt.message ?? "May this go on?";
    if (!decides) {
      card.querySelector("label").firstChild.textContent = "Answer ";
      card.answer[0].textContent = "Answer";
      card.answer[1].textContent = "Cancel";
    }
    card.addEventListener("submit", (event) => {
      event.preventDefault();
      const yes = event.submitter.value === "yes";
      const note = card.note.value;
      const payload = decides ? { approved: yes, ...(note && { note }) } : note;
      const status = decides || yes ? "resolved" : "cancelled";
      answers.set(interrupt.id, { interruptId: interrupt.id, status, ...(status === "resolved" && { payload }) });
      card.remove();
      if (answers.size === interrupts.length) run({ resume: [...answers.values()] });
    });
    at("questions").append(card);
  }
  at("questions").querySelector("button").focus();
}

at("composer").addEventListener("submit", (event) => {
  event.preventDefault();
  const said = at("text").value.trim();
  if (!said || running) return;
  at("text").value = "";
  run({ said });
});
at("stop").addEventListener("click", () => running?.abort());
at("text").focus();
