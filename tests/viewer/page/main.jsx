import "@xyflow/react/dist/style.css";
import { ExplainableShell, FootprintTheme, TraceViewer, coolDark } from "footprint-explainable-ui";
import { TimeTravelDebugger, TracedFlow } from "footprint-explainable-ui/flowchart";
import { createRoot } from "react-dom/client";
import { read, withInner } from "./reading.js";

// ?run=NAME is one of runs/NAME.json, a recording as `to_wire()` gives it; ?view=NAME says in which component to open it.
const asked = new URLSearchParams(location.search);
const recording = await (await fetch(`runs/${asked.get("run")}.json`)).json();
const { stages, graph, outer, whole } = read(recording);

// What the typed events say about the chosen stage: the viewer takes further panels from its host.
function Events({ of }) {
  const steps = new Set(withInner(of).map((each) => each.runtimeStageId));
  const own = recording.events.filter(({ meta }) => steps.has(meta.runtimeStageId));
  return (
    <ol aria-label="Events" style={{ margin: 0, padding: "12px 12px 12px 36px", lineHeight: 1.7 }}>
      {own.map(({ type }, index) => (
        <li key={index}>{type}</li>
      ))}
    </ol>
  );
}

const events = {
  id: "events",
  name: "Events",
  render: ({ snapshots, selectedIndex }) => <Events of={snapshots[selectedIndex]} />,
};

const VIEWS = {
  shell: () => (
    <ExplainableShell
      runtimeSnapshot={recording.snapshot}
      spec={recording.structure}
      traceGraph={graph}
      runtimeOverlay={whole}
      recorderViews={[events]}
      defaultTab="events"
      defaultExpanded={{ topology: true, details: true, timeline: true }}
      title={asked.get("run")}
    />
  ),
  debugger: () => <TimeTravelDebugger snapshots={stages} graph={graph} runtimeOverlay={outer} />, // by place
  trace: () => (
    <TraceViewer
      trace={JSON.stringify({ schemaVersion: 1, snapshot: recording.snapshot, spec: recording.structure })}
      onError={(error) => console.error(error.message)}
      renderFlowchart={({ selectedIndex }) => <TracedFlow graph={graph} overlay={outer} scrubIndex={selectedIndex} />}
      fallback={<p>It could not be opened.</p>}
    />
  ),
};

const View = VIEWS[asked.get("view")];
createRoot(document.getElementById("root")).render(
  <FootprintTheme tokens={coolDark}>
    <div style={{ height: "100%" }}>
      <View />
    </div>
  </FootprintTheme>,
);
