// What can be chosen: a source, a link of its custody, an address, a theme. What was focused stays in the document.
// ---- custody: the links of one chain as tabs
const tabs = (index) => all(`.chain[data-source="${index}"] .tab`);
function makeTabs(chain) {
  const index = chain.dataset.source;
  const row = h("div", { class: "tabs", role: "tablist", "aria-label": "Custody links, newest first" });
  for (const panel of all(".hop", chain)) {
    const name = panel.dataset.hop, id = `hop-${index}-${name}`;
    const at = panel.dataset.at ?? (panel.matches(".is-unknown") ? "unknown" : name === "born" ? "declared" : "");
    const tab = h("button", { class: `tab${panel.matches(".is-unknown") ? " is-unknown" : ""}`, type: "button", role: "tab",
      id: `tab-${id}`, "aria-controls": id, "data-hop": name }, h("b", null, name.toUpperCase()), h("span", null, shown(at)));
    panel.id = id;
    panel.setAttribute("role", "tabpanel");
    panel.setAttribute("aria-labelledby", tab.id);
    tab.addEventListener("click", () => chooseHop(name));
    row.append(tab);
  }
  row.addEventListener("keydown", (event) => {
    const row = order.length, at = order.indexOf(state.hop);
    const to = { ArrowRight: at + 1, ArrowDown: at + 1, ArrowLeft: at - 1, ArrowUp: at - 1, Home: 0, End: row - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    chooseHop(order[(to + row) % row]);
    tabs(state.source)[(to + row) % row].focus();
  });
  one("h3", chain).after(row);
}
function showHop() {
  for (const chain of all(".chain")) {
    chain.hidden = Number(chain.dataset.source) !== state.source;
    for (const panel of all(".hop", chain)) panel.hidden = panel.dataset.hop !== state.hop;
    for (const tab of all(".tab", chain)) {
      tab.setAttribute("aria-selected", tab.dataset.hop === state.hop);
      tab.tabIndex = tab.dataset.hop === state.hop ? 0 : -1;
    }
  }
}
function chooseHop(name) {
  state.hop = name;
  showHop();
  const at = find(hopsOf(state.source)[order.indexOf(name)]?.at);
  if (at >= 0) chooseMoment(at);
}
function chooseSource(index, loud) {
  state.source = index;
  const source = sources[index], text = board.answer.text;
  let end = 0;
  const parts = (source.shared ?? []).flatMap(([from, to]) => {
    const out = [...shown(text.slice(end, unit(text, from))), h("u", null, shown(text.slice(unit(text, from), unit(text, to))))];
    end = unit(text, to);
    return out;
  });
  one("#said").replaceChildren(...parts, ...shown(text.slice(end)));
  for (const id of ["#shared-of", "#custody-of"]) one(id)?.replaceChildren(...shown(nameOf(source)));
  one("#shared-note")?.toggleAttribute("hidden", !source.shared?.length);
  const home = one(`.chain[data-source="${index}"] .request-here`);
  if (home && one("#request")) {
    home.append(one("#request"));
    if (whose.isConnected) one(".hopsay", home.closest(".hop-body")).after(whose);
  }
  state.call = answerCall;
  if (one("#whose")) choose(one("#whose"), answerCall);
  showHop();
  if (loud || one("[data-later]")) drawRequest();
  drawTimeline();
  if (loud) { say(`Custody of ${nameOf(source)}`); address(); }
}

// ---- addresses: #step=call-llm%2340&of=vip-override-fact; keys that are not ours stay
let pending = 0;
const fragment = () => location.hash.slice(1).split("&").filter(Boolean).map((part) => { const n = part.indexOf("="); return n < 0 ? [part, ""] : [part.slice(0, n), part.slice(n + 1)]; });
function decoded(text) { try { return decodeURIComponent(text); } catch { return text; } }
function address() {
  clearTimeout(pending);
  pending = setTimeout(() => {
    const keys = new Map(fragment());
    if (state.at >= 0) keys.set("step", encodeURIComponent(timeline[state.at].step));
    if (state.source !== first) keys.set("of", encodeURIComponent(sources[state.source].id)); else keys.delete("of");
    const link = `#${[...keys].map(([key, value]) => (value ? `${key}=${value}` : key)).join("&")}`;
    one("#link").textContent = link;
    try { history.replaceState(null, "", link); } catch { /* a frame without an address of its own */ }
  }, 100);
}
function nearest(step) {
  const split = (id) => { const n = id.lastIndexOf("#"); return n < 0 ? [id, NaN] : [id.slice(0, n), Number(id.slice(n + 1))]; };
  const [stage, at] = split(step);
  const far = (moment) => { const [name, n] = split(moment.step); return (Math.abs(n - at) || 0) + (name === stage ? 0 : 1e6); };
  return timeline.reduce((best, moment, n) => (best < 0 || far(moment) < far(timeline[best]) ? n : best), -1);
}
function follow() {
  const keys = new Map(fragment()), of = decoded(keys.get("of") ?? ""), step = decoded(keys.get("step") ?? "");
  const index = sources.findIndex((source) => source.id === of);
  if (index >= 0 && index !== state.source) { all("input[name=source]")[index].checked = true; chooseSource(index, true); }
  if (!step || !timeline.length) return;
  if (find(step) >= 0) chooseMoment(find(step));
  else {
    const n = nearest(step), note = `There is no step ${step} here; this is the nearest, ${timeline[n].step}.`;
    chooseMoment(n, note);
    say(note);
  }
  if (keys.has("step")) one(".tl").scrollIntoView({ block: "nearest" });
}

// ---- theme, print, start
const THEMES = ["auto", "light", "dark"];
one("#theme").addEventListener("click", () => {
  const theme = THEMES[(THEMES.indexOf(page.dataset.theme) + 1) % 3];
  page.dataset.theme = theme;
  one("#theme").textContent = `Theme: ${theme === "auto" ? "system" : theme}`;
  say(one("#theme").textContent);
});
let closed = [];
addEventListener("beforeprint", () => { closed = all("details:not([open])"); closed.forEach((each) => { each.open = true; }); });
addEventListener("afterprint", () => closed.forEach((each) => { each.open = false; }));
const radios = all("input[name=source]");
radios.forEach((radio, n) => radio.addEventListener("change", () => chooseSource(n, true)));
const first = radios.findIndex((radio) => radio.defaultChecked);
radios.forEach((radio, n) => { radio.checked = n === first; });
all(".chain").forEach(makeTabs);
offerCalls();
offerChanges();
state.at = find(board.answer.step);
if (timeline.length) makeTimeline();
if (first >= 0) chooseSource(first, false); else drawTimeline();
if (state.at < 0 && columns.length) chooseColumn(columns.length - 1);
narrow.addEventListener("change", drawTimeline);
addEventListener("resize", () => { if (columns.length) drawMoment(); });
addEventListener("hashchange", follow);
one("#link").textContent = state.at < 0 ? "#step=" : `#step=${encodeURIComponent(timeline[state.at].step)}`;
follow();
