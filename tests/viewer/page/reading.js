// From a recording on the wire to what the components take, by the adapters and recorders of their own package.
import { subflowResultToSnapshots, toVisualizationSnapshots } from "footprint-explainable-ui";
import { createTraceRuntimeOverlay, createTraceStructureRecorder } from "footprint-explainable-ui/flowchart";

// The package draws what its recorder was told while a chart was built; here the recorded structure tells it again.
function graphOf(structure) {
  const { recorder, getGraph } = createTraceStructureRecorder();
  const told = new Set();
  const tell = (node) => {
    if (told.has(node.id)) return;
    told.add(node.id);
    recorder.onStageAdded({ stageId: node.id, name: node.name, type: node.type, isPausable: node.isPausable, spec: node });
    if (node.isSubflowRoot) {
      const { subflowId, subflowName, subflowStructure } = node;
      recorder.onSubflowMounted({ subflowId, subflowName, rootStageId: node.id, subflowSpec: subflowStructure });
    }
    for (const child of node.children ?? []) {
      const kind = node.type === "fork" ? "fork-branch" : "decision-branch";
      recorder.onEdgeAdded({ from: node.id, to: child.id, kind, label: child.id });
      tell(child);
      if (node.next && !child.next) recorder.onEdgeAdded({ from: child.id, to: node.next.id, kind: "next" });
    }
    if (node.hasDecider || node.hasSelector) {
      const type = node.hasDecider ? "decider" : "selector";
      recorder.onDeciderComplete({ decider: node.id, type, branchIds: node.branchIds ?? [] });
    }
    if (node.next?.isLoopReference) recorder.onLoopEdgeAdded({ from: node.id, to: node.loopTarget });
    else if (node.next) {
      if (!node.children?.length) recorder.onEdgeAdded({ from: node.id, to: node.next.id, kind: "next" });
      tell(node.next);
    }
  };
  tell(structure);
  return getGraph();
}

// A stage, and the stages of the chart that it mounts.
export function withInner(stage) {
  return [stage, ...subflowResultToSnapshots(stage.subflowResult).flatMap(withInner)];
}

function overlayOf(stages) {
  const { recorder, getOverlay } = createTraceRuntimeOverlay();
  for (const { stageName, runtimeStageId } of stages) {
    recorder.onStageExecuted({ stageName, traversalContext: { runtimeStageId } });
  }
  return getOverlay();
}

export function read({ snapshot, structure }) {
  const stages = toVisualizationSnapshots(snapshot);
  return { stages, graph: graphOf(structure), outer: overlayOf(stages), whole: overlayOf(stages.flatMap(withInner)) };
}
