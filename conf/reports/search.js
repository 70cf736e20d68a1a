// Search over rows that lie in files beside the page; each file calls rows() or sources() with JSON. Texts become text nodes only.
"use strict";
const form = document.querySelector("form.filters");
const about = JSON.parse(form.dataset.about);
const said = form.querySelector("output");
const list = document.querySelector(".found");
const more = document.querySelector(".more");
const SHOWN = 30;
const KEPT = 40; // files whose rows stay in memory
const held = new Map();
const waiting = new Map();
let asked = 0;
let matches = [];
let shown = 0;

function arrived(name, content) {
  const wait = waiting.get(name);
  if (wait) wait.done(content);
}
window.rows = (number, content) => arrived(`rows-${number}`, content);
window.sources = (number, content) => arrived(`sources-${number}`, content);

function load(name) {
  const known = held.get(name);
  if (known) {
    held.delete(name);
    held.set(name, known);
    return Promise.resolve(known);
  }
  const pending = waiting.get(name);
  if (pending) return pending.promise;
  let done, failed;
  const promise = new Promise((yes, no) => { done = yes; failed = no; });
  const script = document.createElement("script");
  const end = () => { waiting.delete(name); script.remove(); };
  waiting.set(name, {
    promise,
    done: (content) => {
      end();
      held.set(name, content);
      if (held.size > KEPT) held.delete(held.keys().next().value);
      done(content);
    },
  });
  const missing = () => { end(); failed(new Error(`${about.folder}/${name}.js cannot be read: keep it beside this page`)); };
  script.onerror = missing;
  script.onload = () => { if (waiting.has(name)) missing(); };
  script.src = `${about.folder}/${name}.js`;
  document.head.append(script);
  return promise;
}

const element = (name, text, style) => {
  const made = document.createElement(name);
  if (text !== undefined) made.textContent = text;
  if (style) made.className = style;
  return made;
};

// A row is [id, about, year or null, crude, choices, items, has sources]; an item is [text, [[label, score or null], ...]].
function wanted() {
  const value = (name) => form.elements[name] ? form.elements[name].value : "";
  const words = value("words").toLowerCase().split(/\s+/).filter(Boolean);
  const number = (name, otherwise) => value(name) === "" || isNaN(Number(value(name))) ? otherwise : Number(value(name));
  const label = value("label") === "" ? null : Number(value("label"));
  const least = number("least", null), first = number("from", null), last = number("to", null);
  const choices = about.choices.map((_, place) => value(`choice-${place}`) === "" ? null : Number(value(`choice-${place}`)));
  const crude = form.elements.crude ? form.elements.crude.checked : true;
  return {
    file: ([, low, high]) => (first === null || high !== null && high >= first) && (last === null || low !== null && low <= last),
    row: ([id, text, year, isCrude, chosen, items]) => {
      if (isCrude && !crude) return false;
      if (first !== null && (year === null || year < first)) return false;
      if (last !== null && (year === null || year > last)) return false;
      if (!choices.every((choice, place) => choice === null || chosen[place].includes(choice))) return false;
      const fits = ([name, score]) => (label === null || name === label) && (least === null || score !== null && score >= least);
      if ((label !== null || least !== null) && !items.some((item) => item[1].some(fits))) return false;
      if (!words.length) return true;
      const all = [id, text, ...items.map((item) => item[0])].join("\n").toLowerCase();
      return words.every((word) => all.includes(word));
    },
  };
}

function card(row, number) {
  const [id, text, , , , items, hasSources] = row;
  const made = element("article", undefined, "dialogue");
  const turns = element("ol");
  for (const [words, labels] of items) {
    const line = element("li"), marks = element("div", undefined, "label");
    labels.forEach(([label, score], place) => {
      const one = element("span");
      one.append(element("b", about.labels[label]));
      if (score !== null) one.append(` ${score.toFixed(2)}`);
      if (place) marks.append(" ");
      marks.append(one);
    });
    if (labels.length) line.append(marks);
    line.append(element("q", words));
    turns.append(line);
  }
  const from = element("p", text ? `${id} · ${text}` : id, "from");
  made.append(turns, from);
  if (hasSources) {
    const button = element("button", about.sources);
    button.type = "button";
    button.append(element("span", ` of ${id}`, "unseen"));
    button.addEventListener("click", async () => {
      button.disabled = true;
      try {
        const [where, lines] = (await load(`sources-${number}`))[id];
        const block = element("div", undefined, "sources");
        block.append(element("p", where, "from"));
        const listed = element("ol", undefined, "sentences");
        for (const [place, said] of lines) {
          const line = element("li");
          line.append(element("span", place, "place"), " ", element("q", said));
          listed.append(line);
        }
        block.append(listed);
        button.replaceWith(block);
      } catch (error) {
        button.replaceWith(element("p", error.message, "from"));
      }
    });
    made.append(button);
  }
  return made;
}

async function show(mine) {
  const next = matches.slice(shown, shown + SHOWN);
  for (const [number, place] of next) {
    const rows = await load(`rows-${number}`);
    if (mine !== asked) return;
    list.append(card(rows[place], number));
  }
  shown += next.length;
  more.hidden = shown >= matches.length;
}

async function search() {
  const mine = ++asked;
  list.setAttribute("aria-busy", "true");
  const filter = wanted();
  matches = [];
  shown = 0;
  list.replaceChildren();
  more.hidden = true;
  const tell = (looked) => {
    const of = looked < about.count ? `${looked.toLocaleString("en")} looked at so far, of ${about.count.toLocaleString("en")}` : `of ${about.count.toLocaleString("en")}`;
    said.textContent = `${matches.length.toLocaleString("en")} ${about.what}, ${of}`;
  };
  let looked = 0;
  try {
    for (const [number, file] of about.files.entries()) {
      if (filter.file(file)) {
        const rows = await load(`rows-${number}`);
        if (mine !== asked) return;
        rows.forEach((row, place) => { if (filter.row(row)) matches.push([number, place]); });
        if (shown < SHOWN) {
          const room = matches.slice(shown, SHOWN); // all of this file, since those before are shown
          for (const [, place] of room) list.append(card(rows[place], number));
          shown += room.length;
        }
      }
      looked += file[0];
      tell(looked);
    }
    tell(about.count);
    more.hidden = shown >= matches.length;
  } catch (error) {
    if (mine !== asked) return;
    said.textContent = error.message;
  }
  list.setAttribute("aria-busy", "false");
}

let timer = 0;
form.addEventListener("submit", (event) => event.preventDefault());
for (const event of ["input", "change"]) {
  form.addEventListener(event, () => {
    list.setAttribute("aria-busy", "true");
    clearTimeout(timer);
    timer = setTimeout(search, 150);
  });
}
form.addEventListener("reset", () => { list.setAttribute("aria-busy", "true"); setTimeout(search, 0); });
more.addEventListener("click", () => show(asked));
form.hidden = false;
search();
