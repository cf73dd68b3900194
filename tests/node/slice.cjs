// Slices the snapshots given on standard input with the published slicer, one JSON line in, one out.
// In: {"snapshot": ..., "key": ..., "before"?: n}. Out: {"backward", "backwardText", "forward", "timeline", "provenance"}.
const trace = require("footprintjs/trace");

function answer({ snapshot, key, before }) {
  const log = snapshot.commitLog;
  const reads = trace.keysReadFromExecutionTree(snapshot.executionTree);
  const options = before === undefined ? {} : { before };
  const slice = trace.sliceForKey(log, key, reads, options);
  return {
    backward: trace.sliceToJSON(slice),
    backwardText: trace.formatSlice(slice),
    forward: trace.forwardSliceToJSON(trace.forwardSliceForKey(log, key, reads, options)),
    timelineText: trace.formatTimeline(trace.keyTimeline(log, key, reads, options)),
    provenance: trace.arrayProvenance(log, key),
  };
}

let text = "";
process.stdin.setEncoding("utf8");
process.stdin.on("data", (chunk) => (text += chunk));
process.stdin.on("end", () => {
  for (const line of text.split("\n").filter(Boolean)) {
    process.stdout.write(JSON.stringify(answer(JSON.parse(line))) + "\n");
  }
});
