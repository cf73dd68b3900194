// The timeline: every step has a column; iterations that nobody looks at share one.
const LANES = [["run", "In and out"], ["rules", "Rules"], ["system", "System prompt"], ["messages", "Messages"], ["tools", "Tools offered"],
  ["model", "Model"], ["decision", "Decisions"], ["tool", "Tool calls"], ["pause", "Pauses"], ["error", "Errors"]];
const laneOf = (moment) => (moment.kind === "plumbing" ? "model" : moment.kind);
const where = new Map();
timeline.forEach((moment, n) => [moment.step, ...(moment.inner ?? [])].forEach((step) => where.has(step) || where.set(step, n)));
const find = (step) => where.get(step) ?? -1;
const groups = [];
timeline.forEach((moment, n) => {
  if (groups.at(-1)?.iteration === moment.iteration) groups.at(-1).to = n;
  else groups.push({ iteration: moment.iteration, from: n, to: n });
});
const groupOf = (n) => groups.findIndex((group) => n >= group.from && n <= group.to);
const narrow = matchMedia("(max-width: 720px)");
let columns = [];
function layOut() {
  const kept = new Set([0, groups.length - 1, state.pinned, groupOf(find(board.answer.step))]);
  if (!narrow.matches) hopsOf(state.source).forEach((hop) => kept.add(groupOf(find(hop?.at))));
  const whole = timeline.length <= (narrow.matches ? 40 : 60);
  const rest = groups.filter((_, n) => !kept.has(n)).length;
  const most = Math.max(1, Math.ceil(rest / (narrow.matches ? 8 : 16)));
  columns = [];
  let block = null;
  groups.forEach((group, n) => {
    if (whole || kept.has(n)) {
      block = null;
      for (let at = group.from; at <= group.to; at += 1) columns.push({ from: at, to: at });
    } else if (block && block.groups < most) { block.to = group.to; block.groups += 1; } else columns.push(block = { from: group.from, to: group.to, groups: 1 });
  });
}
const columnOf = (n) => columns.findIndex((column) => n >= column.from && n <= column.to);
const momentsOf = (column) => timeline.slice(column.from, column.to + 1);
const spanOf = (column) => {
  const [from, to] = [timeline[column.from].iteration, timeline[column.to].iteration];
  return from === to ? `iteration ${from}` : `iterations ${from} to ${to}`;
};
function dot(moments, lane, single) {
  const mine = moments.filter((moment) => laneOf(moment) === lane);
  if (!mine.length) return null;
  const fresh = mine.filter((moment) => !moment.carried && moment.kind !== "plumbing");
  const look = mine.some((moment) => moment.unknown) ? "gone" : single && mine[0].kind === "plumbing" ? "plumbing" : fresh.length ? lane : "same";
  const node = h("i", { class: `dot ${look}${single ? "" : " many"}` });
  if (!single) node.style.setProperty("--share", Math.min(1, fresh.length / Math.max(1, moments.filter((moment) => moment.kind === "model").length)));
  return node;
}
function drawLane([lane, title]) {
  const path = new Set(hopsOf(state.source).map((hop) => find(hop?.at)).filter((n) => n >= 0));
  const row = h("div", { class: "cols" });
  let from = -1, to = -1;
  const line = () => {
    if (from < 0 || to <= from) return;
    const carry = h("span", { class: "carry" });
    carry.style.gridColumn = `${from + 1} / ${to + 2}`;
    carry.style.setProperty("--w", to - from + 1);
    row.prepend(carry);
  };
  columns.forEach((column, n) => {
    const moments = momentsOf(column), single = column.from === column.to && !column.groups;
    const mark = dot(moments, lane, single);
    if (!mark) return;
    if (["system", "messages", "tools"].includes(lane)) {
      if (moments.some((moment) => laneOf(moment) === lane && !moment.carried)) { line(); from = to = n; } else to = n;
    }
    const ring = moments.some((moment, k) => path.has(column.from + k) && laneOf(moment) === lane);
    const cell = h("span", { class: `cell${ring ? " path" : ""}`, title: single ? `${moments[0].title} · ${moments[0].step}` : spanOf(column) }, mark);
    cell.style.gridColumn = n + 1;
    row.append(cell);
  });
  line();
  return h("div", { class: "row lane", "aria-hidden": "true" }, h("span", { class: "name" }, title), row);
}
function drawHeads() {
  const row = h("div", { class: "cols its" });
  let last = null;
  columns.forEach((column, n) => {
    const { iteration } = timeline[column.from];
    if (column.groups && narrow.matches) { last = null; return; }
    const label = column.groups ? `${iteration}` : `iteration ${iteration}`;
    if (!iteration || (!column.groups && last === label)) { last = iteration ? label : null; return; }
    last = label;
    let end = n + 1;
    while (!column.groups && columns[end] && !columns[end].groups && timeline[columns[end].from].iteration === iteration) end += 1;
    const head = h("span", null, label);
    head.style.gridColumn = `${n + 1} / ${end + 1}`;
    row.append(head);
  });
  return h("div", { class: "row", "aria-hidden": "true" }, h("span"), row);
}
const lanes = h("div", { class: "lanes" });
const slider = h("input", { type: "range", id: "scrub", min: 0, step: 1, "aria-label": "Moment of the run" });
const momentBox = h("div"), hopButtons = h("span", { class: "nav" });
const button = (text, act) => { const node = h("button", { class: "btn", type: "button" }, text); node.addEventListener("click", act); return node; };
const earlier = button("← Earlier", () => chooseColumn(state.column - 1)), later = button("Later →", () => chooseColumn(state.column + 1));
const legend = h("span", { class: "right legend", "aria-hidden": "true" });
function makeTimeline() {
  const jump = h("p", { class: "jump", hidden: timeline.length <= 40 || groups.length < 4 });
  const field = h("input", { type: "number", id: "jump", min: 1, max: Math.max(...groups.map((group) => group.iteration)) });
  field.addEventListener("change", () => { const n = groups.findIndex((group) => group.iteration === Number(field.value)); if (n >= 0) chooseMoment(groups[n].from); });
  jump.append(h("label", { for: "jump" }, "Go to iteration"), field, "Iterations that are not open share a column.");
  one("#timeline").append(
    h("div", { class: "grid" }, lanes, h("div", { class: "row scrub" }, h("label", { for: "scrub", class: "name" }, "Moment"), slider), jump),
    h("div", { class: "moment", id: "moment" }, momentBox, h("div", { class: "nav" }, earlier, later, hopButtons)));
  one(".tl .hd").append(legend);
  slider.addEventListener("input", () => chooseColumn(Number(slider.value)));
  slider.addEventListener("keydown", (event) => {
    const step = { PageDown: 1, PageUp: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const iteration = (n) => (columns[n].groups ? `block ${n}` : groupOf(columns[n].from));
    const starts = columns.map((_, n) => n).filter((n) => n === 0 || iteration(n) !== iteration(n - 1));
    chooseColumn(step > 0 ? starts.find((n) => n > state.column) ?? columns.length - 1 : starts.findLast((n) => n < state.column) ?? 0);
  });
  const pick = (event) => {
    const box = one(".lane .cols", lanes).getBoundingClientRect();
    if (event.clientX >= box.left) chooseColumn(Math.floor((event.clientX - box.left) / box.width * columns.length));
  };
  lanes.addEventListener("pointerdown", (event) => { lanes.setPointerCapture(event.pointerId); pick(event); });
  lanes.addEventListener("pointermove", (event) => { if (lanes.hasPointerCapture(event.pointerId)) pick(event); });
}
function drawTimeline() {
  if (!timeline.length) return;
  layOut();
  if (state.at >= 0) state.column = columnOf(state.at);
  const frame = one("#timeline");
  frame.style.setProperty("--n", columns.length);
  one(".tl").style.setProperty("--path", decides(state.source) ? "var(--hit)" : "var(--rec)");
  const used = new Set(timeline.map(laneOf));
  lanes.replaceChildren(drawHeads(), ...LANES.filter(([lane]) => used.has(lane)).map(drawLane), h("div", { class: "playhead" }, h("i")));
  slider.max = columns.length - 1;
  const key = (look, text) => h("span", null, h("i", { class: look }), text);
  legend.replaceChildren(key("", "new"), h("span", null, h("i", { class: "line" }), h("i", { class: "same" }), "carried over"),
    ...(timeline.some((moment) => moment.kind === "plumbing") ? [key("plumbing", "plumbing")] : []),
    ...(timeline.some((moment) => moment.unknown) ? [key("gone", "unknown")] : []),
    ...(state.source >= 0 ? [h("span", null, h("i", { class: "ring" }), "custody of ", shown(nameOf(sources[state.source])))] : []));
  drawMoment();
}
function chooseColumn(n) {
  if (!columns.length) return;
  state.column = Math.max(0, Math.min(columns.length - 1, n));
  const column = columns[state.column];
  state.at = column.groups ? -1 : column.from;
  drawMoment();
  address();
}
function chooseMoment(n, note) {
  if (columns[columnOf(n)]?.groups) { state.pinned = groupOf(n); state.at = n; drawTimeline(); }
  state.at = n;
  state.column = columnOf(n);
  drawMoment(note);
  if (!note) address();
}
function drawMoment(note) {
  const column = columns[state.column];
  one(".playhead i", lanes).style.left = `${state.column / columns.length * 100}%`;
  slider.value = state.column;
  slider.style.setProperty("--colw", `${(slider.getBoundingClientRect().width || 400) / columns.length}px`);
  slider.setAttribute("aria-valuetext", column.groups ? `${spanOf(column)}, folded` : `${timeline[column.from].title}, ${timeline[column.from].step}, moment ${column.from + 1} of ${timeline.length}`);
  momentBox.replaceChildren(...(note ? [h("p", { class: "note" }, h("b", null, note))] : []), ...(column.groups ? blockBody(column) : momentBody(column.from)));
  earlier.setAttribute("aria-disabled", state.column === 0);
  later.setAttribute("aria-disabled", state.column === columns.length - 1);
  if (!hopButtons.contains(document.activeElement)) offerHops(column);
}
function momentBody(n) {
  const moment = timeline[n], inside = hopsOf(state.source).filter((hop) => hop && find(hop.at) === n);
  const commits = moment.commits ? ` · commit ${[...new Set(moment.commits)].join("–")}` : "";
  const took = moment.durationMs === undefined ? "" : ` · ${moment.durationMs.toLocaleString("en")} ms`;
  const keys = (list) => (list === undefined ? h("span", { class: "not-known" }, "not recorded") : list.length ? shown(list.join(", ")) : "nothing");
  return [
    h("h3", null, shown(moment.title), inside.flatMap((hop) => [" ", h("span", { class: "kind" }, hop.step)])),
    h("p", { class: "small muted" }, h("code", null, shown(moment.step)), ` · ${moment.iteration ? `iteration ${moment.iteration}` : n ? "end" : "setup"} · moment ${n + 1} of ${timeline.length}${commits}${took}`),
    moment.unknown ? unknown(moment.unknown) : h("p", null, shown(moment.text ?? "")),
    h("dl", { class: "kv" }, h("dt", null, "read"), h("dd", null, keys(moment.reads)), h("dt", null, "wrote"), h("dd", null, keys(moment.wrote))),
  ];
}
function blockBody(column) {
  const moments = momentsOf(column), counts = new Map();
  for (const moment of moments) if (["tool", "model", "error", "pause"].includes(moment.kind)) {
    const name = moment.kind === "model" ? "model calls" : moment.title;
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  const rows = [...counts].sort((a, b) => b[1] - a[1]).slice(0, 6).flatMap(([name, n]) => [h("dt", null, `${n} ×`), h("dd", null, shown(name))]);
  return [h("h3", null, `${spanOf(column)}, folded`.replace(/^i/, "I")), h("p", { class: "small muted" }, plural(moments.length, "step")), h("dl", { class: "kv" }, rows)];
}
function offerHops(column) {
  const out = [];
  if (column.groups) out.push(button(`Open iteration ${timeline[column.from].iteration}`, () => { chooseMoment(column.from); slider.focus(); }));
  const call = column.groups ? -1 : calls.findIndex((each) => find(each.step) === column.from);
  if (call >= 0 && one("#request") && call !== answerCall) out.push(button("Its request", () => { state.hop = "read"; showHop(); state.call = call; choose(one("#whose"), call); drawRequest(); one("#request").focus(); }));
  for (const hop of hopsOf(state.source)) {
    if (["landed", "read"].includes(hop?.step) && find(hop.at) >= 0 && find(hop.at) !== column.from) out.push(button(`To ${hop.step}`, () => chooseMoment(find(hop.at))));
  }
  hopButtons.replaceChildren(...out);
}
hopButtons.addEventListener("focusout", () => setTimeout(() => { if (columns.length && !hopButtons.contains(document.activeElement)) offerHops(columns[state.column]); }));
