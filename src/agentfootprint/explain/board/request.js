// What a call was given, word for word, and what changed between two calls.
// ---- what is chosen
const answerCall = calls.findIndex((call) => call.step === board.answer.step);
const state = { source: -1, hop: "read", call: answerCall, at: -1, column: 0, pinned: -1 };
const nameOf = (source) => source.name ?? source.id;
const decides = (index) => all("input[name=source]")[index]?.closest(".card").classList.contains("is-hit") ?? false;
const order = ["answer", "read", "landed", "allowed", "born"];
const hopsOf = (index) => (index < 0 ? [] : order.map((name) => board.custody[sources[index].id].find((hop) => hop.step === name)));
const indicesOf = (slot) => slot.records.flatMap(([from, to]) => Array.from({ length: to - from }, (_, n) => from + n));
const lost = (at) => at.filter((index) => records[index].unknown !== undefined).length;
const sizeOf = (slot, name, at = indicesOf(slot)) => at.reduce((sum, index) => sum + size(records[index].text), 0)
  + (name === "system" ? size(slot.joinedBy ?? "") * Math.max(0, at.length - 1) : 0);
const TITLES = [["system", "System prompt"], ["messages", "Messages"], ["tools", "Tools offered"]];

// ---- the request of a call, word for word
const bar = (title, text) => h("div", { class: "bar" }, h("b", null, title), h("span", null, text));
function segment(record, position, where) {
  const mine = state.source >= 0 && record.source === sources[state.source].id;
  const [from, to] = mine ? record.span ?? [0, size(record.text)] : [0, 0];
  const name = record.id ?? record.kind;
  const note = record.slot === "messages" ? `${record.id ? `${record.kind}, ` : ""}message ${position + 1}` : record.kind;
  const asks = (record.calls ?? []).map((call, n) => h("span", { class: "asks" },
    shown(`${n || record.text ? "" : "(no text) "}calls ${call.name}(${call.arguments})`)));
  const words = record.unknown ? unknown(record.unknown)
    : h("div", { class: "tx" }, marked(record.text, from, to), asks);
  const look = mine ? (decides(state.source) ? " is-hit" : " is-of") : "";
  return h("div", { class: `seg${look}` },
    h("div", { class: "src" }, h("b", null, shown(name)), h("span", null, shown(where ? `${note} · ${where}` : note))), words);
}
function slotView(slot, name, title) {
  if (slot.unknown) return [bar(title, ""), unknown(slot.unknown)];
  const at = indicesOf(slot), total = sizeOf(slot, name, at), only = records[at[0]];
  if (name === "tools" && at.length === 1 && size(only.text) <= 60 && !only.source) return [bar(title, shown(`1 offered: ${only.id ?? only.kind}, “${only.text}”`))];
  const gone = lost(at), length = slot.chars === undefined ? "no length recorded" : `${plural(slot.chars, "character")} recorded at the call`;
  const agrees = slot.chars === total ? "agrees" : `says ${slot.chars?.toLocaleString("en")}: some words are not shown here`;
  const told = { tools: `${at.length} offered`,
    messages: `${at.length} sent${slot.chars === undefined ? "" : `; ${plural(slot.chars, "character")} recorded`}`,
    system: gone ? `${gone} of ${plural(at.length, "piece")} without words; ${length}` : `${plural(total, "character")}; ${slot.chars === undefined ? "no length recorded at the call" : `the length recorded at the call ${agrees}`}` };
  let start = 0;
  const placed = name === "system" && slot.joinedBy !== undefined && !gone;
  const ranges = !placed ? [] : at.map((index) => {
    const from = start, length = size(records[index].text);
    start += length + size(slot.joinedBy);
    return `${from}–${Math.max(from, from + length - 1)}`;
  });
  return [bar(title, at.length ? told[name] : "none"), ...folded(at, (n) => segment(records[at[n]], n, ranges[n]))];
}
// Of many records the first 6, the last 14 and the chosen source's stand open; a fold is filled when it is opened.
function folded(at, draw) {
  const first = 6, last = at.length - 14, all = at.map((_, n) => n);
  if (last - first < 6) return all.map(draw);
  const mine = state.source >= 0 ? sources[state.source].id : undefined;
  const out = all.slice(0, first).map(draw);
  for (let n = first, run = []; n <= last; n += 1) {
    const stands = n === last || (mine !== undefined && records[at[n]].source === mine);
    if (!stands) { run.push(n); continue; }
    if (run.length) out.push(foldOf(run, at, draw));
    run = [];
    if (n < last) out.push(draw(n));
  }
  return [...out, ...all.slice(last).map(draw)];
}
function foldOf(run, at, draw) {
  const much = run.reduce((sum, each) => sum + size(records[at[each]].text), 0);
  const head = h("summary", null, `${run[0] + 1} to ${run.at(-1) + 1} folded: ${plural(run.length, "record")}, ${plural(much, "character")}`);
  const node = h("details", { class: "between" }, head);
  node.addEventListener("toggle", () => node.append(...run.map(draw)), { once: true });
  return node;
}
function drawRequest() {
  const box = one("#request"), call = calls[state.call];
  if (!box || !call) return;
  const mine = state.source >= 0 ? sources[state.source].id : null;
  const inMessages = mine !== null && indicesOf(call.messages).some((index) => records[index].source === mine);
  const slots = inMessages ? [TITLES[1], TITLES[0], TITLES[2]] : TITLES;
  box.replaceChildren(...slots.flatMap(([name, title]) => slotView(call[name], name, title)));
  const mark = one("mark", box);
  box.scrollTop = mark ? Math.max(0, mark.getBoundingClientRect().top - box.getBoundingClientRect().top - 60) : 0;
}
const several = new Set(calls.map((call) => call.iteration)).size < calls.length;
const callName = (call) => `iteration ${call.iteration}${call.step === board.answer.step ? ", the answer" : ""}${several ? ` · ${call.step}` : ""}`;
// A run of many calls offers its ends and those before which the system prompt or the tools changed.
const same = (a, b) => JSON.stringify(a.records) === JSON.stringify(b.records);
const offered = calls.map((_, n) => n).filter((n) => calls.length <= 120 || n < 20 || n >= calls.length - 80
  || !same(calls[n].system, calls[n - 1].system) || !same(calls[n].tools, calls[n - 1].tools)).slice(-200);
const optionOf = (n, chosen) => h("option", { value: n, selected: n === chosen }, n < 0 ? "before the run" : callName(calls[n]));
function choose(select, n) {
  if (!one(`option[value="${n}"]`, select)) select.append(optionOf(n, n));
  select.value = n;
}
const whose = h("p", { class: "whose" });
function offerCalls() {
  if (calls.length < 2 || !one("#request")) return;
  const select = h("select", { id: "whose" }, offered.map((n) => optionOf(n, state.call)));
  select.addEventListener("change", () => { state.call = Number(select.value); drawRequest(); });
  whose.append(h("label", { for: "whose" }, "Request of"), select);
  one("#request").closest(".hop-body").querySelector(".hopsay").after(whose);
}

// ---- what changed between two calls
function between(before, after) {
  const left = new Map();
  for (const index of before) left.set(index, (left.get(index) ?? 0) + 1);
  const came = after.filter((index) => { const n = left.get(index) ?? 0; left.set(index, n - 1); return n <= 0; });
  return came;
}
const measure = (slot, name, at) => `${number(at.length)} · ${lost(at) ? "unknown" : number(sizeOf(slot, name, at))} ch`;
const number = (n, none) => (n === undefined ? none : n.toLocaleString("en"));
function drawChanges(from, to) {
  const before = calls[from], after = calls[to], rows = [], lines = [];
  for (const [name, title] of TITLES) {
    const old = before?.[name] ?? { records: [] }, now = after[name], th = h("th", { scope: "row" }, title);
    if (old.unknown || now.unknown) { rows.push(h("tr", null, th, h("td", { class: "unknown", colspan: 3 }, h("span", null, shown(`${old.unknown || now.unknown}: can't be compared`))))); continue; }
    const [x, y] = [indicesOf(old), indicesOf(now)], came = between(x, y), went = between(y, x);
    const cell = (text) => h("td", { class: "num" }, text);
    const told = `${came.length ? `+${came.length}` : ""} ${went.length ? `−${went.length}` : ""}`.trim() || "no change";
    rows.push(h("tr", null, th, cell(measure(old, name, x)), cell(measure(now, name, y)), cell(told)));
    lines.push(...came.map((index) => ["came", "+", title, index]), ...went.map((index) => ["went", "−", title, index]));
  }
  const [x, y] = [before?.tokensIn, after.tokensIn];
  const change = x === undefined || y === undefined ? "–" : `${y >= x ? "+" : "−"}${number(Math.abs(y - x))}`;
  rows.push(h("tr", null, h("th", { scope: "row" }, "Tokens in"), ...[before ? number(x, "unknown") : "–", number(y, "unknown"), change].map((text) => h("td", { class: "num" }, text))));
  const table = h("table", null, h("thead", null, h("tr", null, ["slot", "from", "to", "change"].map((name) => h("th", { scope: "col" }, name)))), h("tbody", null, rows));
  const list = lines.slice(0, 40).map(([look, sign, title, index]) => {
    const record = records[index], asks = (record.calls ?? []).map((call) => `calls ${call.name}(${call.arguments})`).join("; ");
    return h("li", { class: look }, h("span", { class: "m", "aria-hidden": "true" }, sign),
      h("span", { class: "w" }, h("span", { class: "sr" }, `${look}, ${title}: `), shown(record.kind), record.id ? h("code", null, shown(record.id)) : null),
      h("span", { class: "x" }, clipped(record.text || asks || `unknown: ${record.unknown ?? "no text"}`)));
  });
  if (lines.length > 40) list.push(h("li", { class: "rest" }, `and ${number(lines.length - 40)} more`));
  one("#changes-pair").replaceChildren(table, lines.length ? h("ul", { class: "diff", "aria-label": "Records that came and went" }, list) : h("p", { class: "note" }, "Nothing came and nothing went."));
}
function offerChanges() {
  if (answerCall < 0) return;
  const choice = (id, label, chosen, first) => {
    const all = [...(first ? [-1] : []), ...offered];
    return [h("label", { for: id }, label), h("select", { id }, all.map((n) => optionOf(n, chosen)))];
  };
  one("#changes-between").replaceChildren(...choice("from-call", "from", answerCall - 1, true), ...choice("to-call", "to", answerCall, false));
  const pair = [one("#from-call"), one("#to-call")];
  for (const each of pair) each.addEventListener("change", () => { drawChanges(Number(pair[0].value), Number(pair[1].value)); say("Changes updated"); });
}
