// The published client of AG-UI, moved by JSON lines: one command on standard input, one answer on standard output.
//
// {"verify": [event, ...]}                      -> {"error": null | words}
// {"apply": [{"runId", "events", "resume"?}]}   -> {"messages", "pendingInterrupts", "errors", "advice"}
// {"open": NAME, "url", "threadId", "like"?}    -> {}                   `like`: as that tab is now
// {"run": NAME, "runId", "say"?, "resume"?, "abortAt"?}
//                                               -> {"events", "result", "error", "messages", "pendingInterrupts", "advice"}
// {"both": [run command, run command]}          -> [answer, answer]     started at the same moment
import { AbstractAgent, HttpAgent, verifyEvents } from "@ag-ui/client";
import { createInterface } from "node:readline";
import { from, lastValueFrom, toArray } from "rxjs";

const advice = []; // what the client finds odd in what it was sent
console.warn = (...words) => advice.push(words.join(" "));
console.error = console.warn;

const told = (error) => (error === null ? null : String(error.message ?? error));

async function verify(events) {
  try {
    await lastValueFrom(from(events).pipe(verifyEvents(), toArray()));
    return { error: null };
  } catch (error) {
    return { error: told(error) };
  }
}

class Replay extends AbstractAgent {
  run({ runId }) {
    return from(this.recorded.get(runId));
  }
}

async function apply(runs) {
  const agent = new Replay({ threadId: runs[0].events[0].threadId });
  agent.recorded = new Map(runs.map(({ runId, events }) => [runId, events]));
  const errors = [];
  for (const { runId, resume } of runs) {
    try {
      await agent.runAgent({ runId, resume });
    } catch (error) {
      errors.push(told(error));
    }
  }
  return { messages: agent.messages, pendingInterrupts: agent.pendingInterrupts, errors, advice: advice.splice(0) };
}

const tabs = new Map();

function open({ open: name, url, threadId, headers, like }) {
  const agent = new HttpAgent({ url, threadId, headers });
  if (like !== undefined) {
    agent.messages = structuredClone(tabs.get(like).messages);
    agent.pendingInterrupts = structuredClone(tabs.get(like).pendingInterrupts);
  }
  tabs.set(name, agent);
  return {};
}

async function run({ run: name, runId, say, resume, abortAt }) {
  const agent = tabs.get(name);
  if (say !== undefined) agent.addMessage({ id: `user-${runId}`, role: "user", content: say });
  const events = [];
  let result = null;
  let error = null;
  try {
    const subscriber = {
      onEvent({ event }) {
        events.push(event);
        if (event.type === abortAt) agent.abortRun();
      },
    };
    ({ result = null } = await agent.runAgent({ runId, resume }, subscriber));
  } catch (caught) {
    error = caught;
  }
  const { messages, pendingInterrupts } = agent;
  return { events, result, error: told(error), messages, pendingInterrupts, advice: advice.splice(0) };
}

async function answer(command) {
  if (command.verify) return verify(command.verify);
  if (command.apply) return apply(command.apply);
  if (command.open) return open(command);
  if (command.both) return Promise.all(command.both.map(run));
  return run(command);
}

const LONGEST_MS = 60_000; // an answer that never comes ends the process, and with it the test

for await (const line of createInterface({ input: process.stdin })) {
  const late = setTimeout(() => process.exit(3), LONGEST_MS);
  process.stdout.write(JSON.stringify(await answer(JSON.parse(line))) + "\n");
  clearTimeout(late);
}
