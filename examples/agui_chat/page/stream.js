// What the server says to one request, event by event, as AG-UI sends it: a POST answered by server-sent events.

export async function* events(url, input, signal) {
  const response = await fetch(url, {
    method: "POST",
    headers: { "Content-Type": "application/json", Accept: "text/event-stream" },
    body: JSON.stringify(input),
    signal,
  });
  if (!response.ok) throw new Error(`The server refused the request (${response.status}).`);
  for await (const frame of frames(response.body.pipeThrough(new TextDecoderStream()))) {
    const data = frame
      .split(/\r\n|\r|\n/)
      .filter((line) => line.startsWith("data:")) // a line that begins with a colon is a heartbeat
      .map((line) => line.slice(5).replace(/^ /, ""));
    if (data.length) yield JSON.parse(data.join("\n"));
  }
}

async function* frames(text) {
  let rest = "";
  const reader = text.getReader();
  try {
    while (true) {
      const { done, value } = await reader.read();
      if (done) return; // what was cut off within a frame is no event
      const parts = (rest + value).split(/\r\n\r\n|\n\n|\r\r/);
      rest = parts.pop();
      yield* parts;
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}
