// The page shows what the server computes and draws; it keeps what was typed and chosen, and nothing else.

const $ = (selector) => document.querySelector(selector);
const PART = 250_000; // bytes of a request for all sentences, far below what the server takes
const SHORT = 15; // words of a sentence whose trees stay readable when they are made to fit
// {conllu, text, direction, constraints: [{word, head, kind}], wanted: the same and those the server has yet to accept}
let sentences = [];
let current = null; // the sentence that is shown
let shown = null; // what the server said about it
let seed = 1;
const latest = {}; // number of the last request of each kind: answers that come late are dropped

class Refused extends Error {}
class Superseded extends Error {}

async function ask(path, body, headers = {}) {
  const number = (latest[path] = (latest[path] ?? 0) + 1);
  let response;
  try {
    response = await fetch(path, {
      method: "POST",
      headers: { "Content-Type": "application/json", ...headers },
      body: JSON.stringify(body),
    });
  } catch {
    throw new Refused("The server does not answer.");
  }
  const text = await response.text();
  if (number !== latest[path]) throw new Superseded();
  if (response.ok) return headers.Accept ? text : JSON.parse(text);
  let message = `The server answers ${response.status}.`;
  try {
    message = JSON.parse(text).error ?? message;
  } catch {
    // not one of its own messages
  }
  throw new Refused(message);
}

function say(message) {
  $("#status").textContent = message;
}

// Run something that asks the server, and show what goes wrong.
async function attempt(action) {
  $("#error").hidden = true;
  try {
    await action();
  } catch (error) {
    if (error instanceof Superseded) return;
    if (!(error instanceof Refused)) throw error;
    say("");
    $("#error").textContent = error.message;
    $("#error").hidden = false;
  }
}

function element(name, properties = {}, ...children) {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
}

function percent(probability) {
  const value = 100 * probability;
  return `${value < 0.1 ? value.toPrecision(2) : value.toFixed(value < 10 ? 2 : 1)} %`;
}

// Pictures come from the server, which escapes every word in them.
function picture(place, drawn, direction) {
  place.innerHTML = drawn;
  place.dir = direction;
  place.classList.toggle("fits", shown.words.length <= SHORT);
}

async function read() {
  say("Parsing …");
  const answer = await ask("sentences", { pasted: $("#pasted").value });
  if (!answer.sentences.length) throw new Refused("There is no sentence in it.");
  sentences = answer.sentences.map((sentence) => ({ ...sentence, constraints: [], wanted: [] }));
  list();
  await show(sentences[0]);
}

function list() {
  const items = sentences.map((sentence) => {
    const button = element("button", { type: "button", textContent: sentence.text, dir: "auto" });
    button.addEventListener("click", () => attempt(() => show(sentence)));
    return element("li", {}, button);
  });
  $("#sentences ol").replaceChildren(...items);
  $("#sentences").hidden = $("#download-all").hidden = sentences.length < 2;
}

// Show a sentence under constraints, which it keeps only if there is such a tree. Until the answer is here, everything
// on the page, and whatever is chosen in it, is about the sentence before.
async function show(sentence, constraints = sentence.wanted, word = null) {
  say("Parsing …");
  sentence.wanted = constraints;
  let answer;
  try {
    answer = await ask("explore", { conllu: sentence.conllu, constraints, kbest: Number($("#kbest").value) });
  } catch (error) {
    if (sentence.wanted === constraints) sentence.wanted = sentence.constraints; // nothing further is on its way
    throw error;
  }
  current = sentence;
  shown = answer;
  sentence.constraints = constraints;
  $("#results").hidden = false;
  document.querySelectorAll("#sentences button").forEach((button, place) => {
    button.setAttribute("aria-current", sentences[place] === sentence);
  });
  picture($("#tree"), answer.tree, answer.direction);
  reachable(treeButtons()[0]);
  picture($("#heat"), answer.heat, answer.direction);
  $("#table").innerHTML = answer.table;
  $("#probability").textContent = percent(answer.probability);
  $("#trees").replaceChildren(...answer.kbest.map((tree) => withProbability(tree, answer.direction)));
  listConstraints();
  if (word) $(`#tree .word[data-word="${word}"]`)?.focus();
  say(`${answer.words.length} words; the best tree has a probability of ${percent(answer.probability)}.`);
  await draw();
}

function withProbability(tree, direction) {
  const place = element("div", { className: "picture" });
  picture(place, tree.picture, direction);
  return element("li", {}, element("span", { textContent: percent(tree.probability) }), place);
}

async function draw() {
  const temperature = Number((10 ** Number($("#temperature").value)).toPrecision(2));
  $("#temperature-shown").textContent = temperature;
  $("#temperature").setAttribute("aria-valuetext", String(temperature));
  const answer = await ask("draw", { conllu: current.conllu, constraints: current.constraints, temperature, seed });
  picture($("#relaxed"), answer.relaxed, shown.direction);
  picture($("#hard"), answer.hard, shown.direction);
  $("#samples").replaceChildren(...answer.samples.map((tree) => withProbability(tree, shown.direction)));
}

// Constraints.

function name(node) {
  return node === 0 ? "root" : `${shown.words[node - 1]} (${node})`;
}

function listConstraints() {
  const items = current.constraints.map((constraint) => {
    const verb = constraint.kind === "require" ? "must be" : "must not be";
    const text = `the head of ${name(constraint.word)} ${verb} ${name(constraint.head)}`;
    const button = element("button", { type: "button", dir: "auto", textContent: `${text} ✕` });
    button.setAttribute("aria-label", `remove: ${text}`);
    button.addEventListener("click", () => change(current.wanted.filter((other) => other !== constraint), constraint.word));
    return element("li", {}, button);
  });
  $("#constraints ul").replaceChildren(...items);
  $("#constraints").hidden = !items.length;
}

function change(constraints, word) {
  return attempt(() => show(current, constraints, word));
}

function constrain(word, head, kind) {
  $("#heads").close();
  const others = current.wanted.filter(
    (constraint) =>
      constraint.word !== word || (constraint.head !== head && !(kind === "require" && constraint.kind === "require")),
  );
  change([...others, { word, head, kind }], word);
}

function openHeads(word, arc) {
  const buttons = (head) =>
    ["require", "forbid"].map((kind) => {
      const label = kind === "require" ? "Require" : "Forbid";
      const button = element("button", { type: "button", textContent: label });
      button.setAttribute("aria-label", `${label} ${name(head)}`);
      button.addEventListener("click", () => constrain(word, head, kind));
      return button;
    });
  const rows = shown.candidates[word - 1].map((candidate) => {
    const text = element("span", {}, element("bdi", { textContent: name(candidate.head) }), ` ${percent(candidate.probability)}`);
    const row = element("li", {}, text, ...buttons(candidate.head));
    row.dataset.head = candidate.head;
    return row;
  });
  $("#heads-word").textContent = name(word);
  $("#candidates").replaceChildren(...rows);
  const heads = [0, ...shown.words.map((_, place) => place + 1)].filter((head) => head !== word);
  $("#other-head").replaceChildren(...heads.map((head) => element("option", { value: head, textContent: name(head) })));
  $("#heads").dataset.word = word;
  $("#heads").showModal();
  (rows.find((row) => Number(row.dataset.head) === arc) ?? rows[0])?.querySelector("button").focus();
}

function choose(event) {
  const target = event.target.closest("[role=button]");
  if (!target) return;
  event.preventDefault();
  const { word, head } = target.dataset;
  openHeads(Number(word), head === undefined ? null : Number(head));
}

// The tree is one stop of the Tab key; arrow keys move inside it: from word to word, and up to a word's arc and down.

function treeButtons() {
  return [...document.querySelectorAll("#tree .word")];
}

function reachable(chosen) {
  document.querySelectorAll("#tree [role=button]").forEach((button) => {
    button.setAttribute("tabindex", button === chosen ? "0" : "-1");
  });
}

function move(event) {
  const here = event.target.closest("[role=button]");
  if (!here) return;
  const words = treeButtons();
  const place = Number(here.dataset.word) - 1;
  const ahead = shown.direction === "rtl" ? "ArrowLeft" : "ArrowRight";
  const back = shown.direction === "rtl" ? "ArrowRight" : "ArrowLeft";
  const next = {
    [ahead]: words[place + 1],
    [back]: words[place - 1],
    Home: words[0],
    End: words.at(-1),
    ArrowUp: document.querySelector(`#tree [data-head][data-word="${place + 1}"]`),
    ArrowDown: words[place],
  }[event.key];
  if (!next) return;
  event.preventDefault();
  next.focus();
}

// Downloads.

function save(text, file, kind) {
  const link = element("a", { href: URL.createObjectURL(new Blob([text], { type: kind })), download: file });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

const FILES = { conllu: ["tree.conllu", "text/plain"], svg: ["tree.svg", "image/svg+xml"], latex: ["tree.tex", "text/plain"] };

// As CoNLL-U, and as JSON, a text is several times as large as it was when it was pasted: it goes in parts.
function inParts() {
  const parts = [];
  let size = Infinity;
  for (const sentence of sentences) {
    const bytes = new TextEncoder().encode(JSON.stringify(sentence.conllu)).length;
    if (size + bytes > PART) {
      parts.push([]);
      size = 0;
    }
    parts.at(-1).push(sentence);
    size += bytes;
  }
  return parts;
}

async function saveAll() {
  const texts = [];
  for (const part of inParts()) {
    const body = {
      conllu: part.map((sentence) => sentence.conllu).join(""),
      confidence: true,
      constraints: part.flatMap((sentence, place) =>
        sentence.constraints.map((constraint) => ({ ...constraint, sentence: place + 1 })),
      ),
    };
    texts.push(await ask("parse", body, { Accept: "text/x-conllu" }));
  }
  save(texts.join(""), "trees.conllu", "text/plain");
}

$("#input").addEventListener("submit", (event) => {
  event.preventDefault();
  attempt(read);
});
$("#pasted").addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) $("#input").requestSubmit();
});
$("#tree").addEventListener("click", choose);
$("#tree").addEventListener("keydown", (event) => {
  if (event.key === "Enter" || event.key === " ") choose(event);
  else move(event);
});
$("#tree").addEventListener("focusin", (event) => {
  const chosen = event.target.closest("[role=button]"); // none: a browser lets people into a box that scrolls
  if (chosen) reachable(chosen);
});
$("#heads").addEventListener("click", (event) => {
  const kind = event.target.dataset.kind;
  if (kind) constrain(Number($("#heads").dataset.word), Number($("#other-head").value), kind);
});
$("#free").addEventListener("click", () => change([], null));
$("#kbest").addEventListener("change", () => attempt(() => show(current)));
$("#temperature").addEventListener("input", () => attempt(draw));
$("#draw").addEventListener("click", () => {
  seed += 1;
  attempt(draw);
});
$("#download-all").addEventListener("click", () => attempt(saveAll));
document.querySelectorAll("[data-download]").forEach((button) => {
  const [file, kind] = FILES[button.dataset.download];
  button.addEventListener("click", () => save(shown[button.dataset.download], file, kind));
});

fetch("info")
  .then((response) => response.json())
  .then((info) => {
    $("#model").textContent = info.model;
  });
