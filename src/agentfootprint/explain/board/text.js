// The document, and how recorded text gets into the page: as text nodes only, never as markup. Positions in the document
// count code points, positions in a string here count UTF-16 units. The parts of the script are one script in the page.
"use strict";
const board = JSON.parse(document.getElementById("board").textContent);
const { records, calls, sources, timeline } = board;
const page = document.documentElement;
const one = (selector, from = document) => from.querySelector(selector);
const all = (selector, from = document) => [...from.querySelectorAll(selector)];
const plural = (n, word) => `${n.toLocaleString("en")} ${word}${n === 1 ? "" : "s"}`;
page.classList.add("js");

// ---- elements and recorded text
function h(tag, attributes, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === true) node.setAttribute(name, "");
    else if (value !== false && value != null) node.setAttribute(name, value);
  }
  node.append(...children.flat().filter((child) => child != null));
  return node;
}
const UNSEEN = /\r(?!\n)|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]/g;
function shown(text) {
  const out = [];
  let end = 0;
  for (const found of text.matchAll(UNSEEN)) {
    const number = found[0].charCodeAt(0).toString(16).toUpperCase().padStart(4, "0");
    out.push(text.slice(end, found.index), h("span", { class: "ctl" }, `U+${number}`));
    end = found.index + 1;
  }
  return [...out, text.slice(end)];
}
const size = (text) => (/[\ud800-\udbff]/.test(text) ? [...text].length : text.length);
function unit(text, points) {
  if (!/[\ud800-\udbff]/.test(text)) return points;
  let at = 0;
  for (let n = 0; n < points; n += 1) at += text.codePointAt(at) > 0xffff ? 2 : 1;
  return at;
}
function fold(text) {
  if (size(text) <= 300) return shown(text);
  const lines = text.split("\n").length;
  const much = plural(size(text), "character");
  return [h("details", { class: "more" }, h("summary", null, `${lines > 1 ? `${plural(lines, "line")}, ` : ""}${much} more`), shown(text))];
}
function clipped(text, head = 400) {
  const rest = size(text) - head, end = unit(text, Math.min(head, size(text)));
  return rest <= head / 4 ? shown(text) : [...shown(text.slice(0, end)), h("span", { class: "cut" }, ` … ${plural(rest, "character")} more`)];
}
// A text of at most 40 lines and 4,000 characters stands whole; of a longer one the head and what surrounds the mark.
function marked(text, first, last) {
  const long = size(text), [start, end] = [unit(text, first), unit(text, last)];
  const part = (from, to) => (start >= end || start < from || end > to ? shown(text.slice(from, to))
    : [...shown(text.slice(from, start)), h("mark", null, shown(text.slice(start, end))), ...shown(text.slice(end, to))]);
  const lines = text.split(/(?<=\n)/);
  if (lines.length <= 40 && long <= 4000) return part(0, text.length);
  const open = [[0, Math.min(size(lines.slice(0, 12).join("")), 1200)]];
  if (first < last) open.push([Math.max(0, first - 200), Math.min(long, last + 200)]);
  const out = [];
  let at = 0;
  for (const [from, to] of open.map((pair) => pair.map((points) => unit(text, points)))) {
    if (from > at) out.push(...fold(text.slice(at, from)));
    out.push(...part(Math.max(at, from), Math.max(at, to)));
    at = Math.max(at, to);
  }
  return [...out, ...fold(text.slice(at))];
}
const unknown = (reason) => h("p", { class: "unknown" }, h("span", null, `Unknown: ${reason}`));
const say = (text) => { one("#live").textContent = text; };
