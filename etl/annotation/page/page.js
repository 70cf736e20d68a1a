// The screens: who are you, one item after the other, and the end.

const batch = JSON.parse(document.getElementById('batch').textContent);
const lessons = new Map((batch.tutorial ?? []).map((one) => [one.value, one]));
batch.questions.forEach((one) => { one.options ??= []; one.other ??= []; });
batch.hits.forEach((hit) => hit.items.forEach((item) => { item.options ??= []; }));

let hit = null;
let work = null;
let since = 0;

const address = () => new URLSearchParams(location.hash.slice(1));
const here = () => hit.items[work.at];
const recordOf = (item) => (work.items[item.id] ??= { answers: {}, seconds: 0 });
const needed = (item) => batch.questions.filter((one) =>
  one.required && one.kind !== 'reveal' && !answered(work.items[item.id]?.answers[one.id]));
const doneItems = () => hit.items.filter((item) => !needed(item).length).length;

/** Adds the time since the last call to the item in view; time in another window does not count. */
function clock() {
  const now = performance.now();
  if (work && work.at < hit.items.length && since) recordOf(here()).seconds += (now - since) / 1000;
  since = document.visibilityState === 'visible' ? now : 0;
}

function save() {
  clock();
  const kept = keep(batch, work);
  const note = document.getElementById('kept');
  if (note) note.textContent = kept ? 'Saved in this browser.' : 'This browser keeps nothing: do not close the page before you are done.';
}

// ---- tutorial ----------------------------------------------------------------------------------------------

function tutorial() {
  if (!lessons.size) return null;
  const rows = [...lessons.values()].map((one) => h('div', { class: 'lesson' },
    h('dt', {}, one.name), h('dd', {}, one.about, h('p', { class: 'example' }, one.example))));
  const box = h('dialog', { id: 'tutorial', 'aria-labelledby': 'tutorial-title' },
    h('div', { class: 'tutorial-head' },
      h('h2', { id: 'tutorial-title', tabindex: '-1' }, 'Tutorial'), button('Close', () => box.close())),
    h('dl', {}, rows));
  return box;
}

function openTutorial() {
  const box = document.getElementById('tutorial');
  if (!box || box.open) return;
  box.showModal();
  box.scrollTop = 0;
  document.getElementById('tutorial-title').focus();
}

// ---- screens -----------------------------------------------------------------------------------------------

function startScreen(message) {
  hit = work = null;
  const last = lastWork(batch);
  const worker = h('input', { id: 'worker', autocomplete: 'username', maxlength: '100', spellcheck: 'false', required: true,
    value: address().get('worker') ?? last?.worker ?? '' });
  const wanted = address().get('hit') ?? last?.hit;
  const list = h('select', { id: 'hit' }, batch.hits.map((one, place) =>
    h('option', { value: one.id, selected: one.id === wanted }, `${place + 1} of ${batch.hits.length} (${one.id})`)));
  const form = h('form', { class: 'start', novalidate: '', onsubmit: (event) => {
    event.preventDefault();
    if (!worker.value.trim()) return complain('Enter your worker id first.', worker);
    begin(batch.hits.find((one) => one.id === list.value), worker.value.trim());
  } },
    h('label', { for: 'worker' }, 'Your worker id'), worker,
    h('label', { for: 'hit' }, 'Task'), list,
    h('p', { class: 'error', id: 'error', role: 'alert' }, message ?? ''),
    h('button', { type: 'submit', class: 'main' }, 'Start'));
  show(h('header', {}, heading(batch.title)), h('main', {},
    batch.introduction.map((text) => h('p', {}, text)),
    lessons.size ? h('p', {}, button('Read the tutorial', openTutorial)) : null, form, tutorial()));
}

function begin(chosen, name) {
  hit = chosen;
  work = workOn(batch, hit, name);
  history.replaceState(null, '', `#${new URLSearchParams({ hit: hit.id })}`);
  screen();
}

function screen() {
  since = document.visibilityState === 'visible' ? performance.now() : 0;
  if (work.at >= hit.items.length) endScreen();
  else itemScreen();
}

function itemScreen() {
  const item = here();
  const record = recordOf(item);
  const total = hit.items.length;
  const last = work.at === total - 1;
  const bar = h('progress', { max: String(total), value: String(doneItems()), 'aria-label': 'Answered' });
  const questions = batch.questions.map((question) => [
    question.section ? h('h2', { class: 'part' }, question.section) : null, questionOf(question, item, lessons, record.answers[question.id], (answer) => {
      record.answers[question.id] = answer;
      work.sent = false;
      bar.value = doneItems();
      if (!needed(item).length) complain('');
      save();
    })]);
  show(
    h('header', {}, h('p', { class: 'title' }, batch.title), heading(`${batch.unit} ${work.at + 1}/${total}`), bar),
    h('main', {}, panelsOf(item), h('form', { onsubmit: (event) => event.preventDefault() }, questions), tutorial()),
    h('footer', {},
      h('p', { class: 'error', id: 'error', role: 'alert' }),
      h('nav', { 'aria-label': 'Steps' },
        button('Back', back, { disabled: work.at === 0 }),
        lessons.size ? button('Full tutorial', openTutorial, { 'aria-keyshortcuts': 'T' }) : null,
        button(last ? 'Finish' : 'Next', next, { class: 'main' })),
      h('p', { class: 'kept' }, h('span', { id: 'kept', role: 'status' }),
        h('span', { class: 'keys' }, 'Keys: 1–9 choose, → or Enter next, ← back', lessons.size ? ', T tutorial' : ''))));
}

function panelsOf(item) {
  return h('div', { class: item.panels.length > 1 ? 'panels several' : 'panels' }, item.panels.map((panel) =>
    h('section', { class: 'panel', 'aria-label': panel.title ?? batch.unit },
      panel.title ? h('h2', {}, panel.title) : null,
      h('ol', { class: 'lines' }, panel.lines.map((line, place) => {
        const asked = panel.ask_last && place === panel.lines.length - 1;
        return h('li', { class: asked ? 'asked' : null }, line.who ? h('b', {}, `${line.who}: `) : null,
          asked && panel.lines.length > 1 ? h('span', { class: 'for-readers' }, 'The statement asked about: ') : null, line.text);
      })))));
}

function endScreen() {
  const total = hit.items.length;
  const done = answersOf(batch, hit, work);
  const place = batch.hits.indexOf(hit);
  const status = h('p', { id: 'sent', role: 'status' }, work.sent ? 'Your answers were sent.' : '');
  const send = batch.post_to ? button('Send answers', async () => {
    send.disabled = true;
    status.textContent = 'Sending …';
    try {
      await post(batch.post_to, answersOf(batch, hit, work));
      work.sent = true;
      status.textContent = 'Your answers were sent. You may close this page.';
    } catch (error) {
      status.textContent = `Sending failed (${error.message}). Try again, or download the file and hand it in.`;
      send.disabled = false;
    }
    save();
  }, { class: 'main', disabled: work.sent }) : null;
  show(h('header', {}, heading(`${doneItems()} of ${total} answered. Thank you.`)), h('main', {},
    h('p', {}, batch.post_to ? 'Send your answers, or go back and look at them again.'
      : 'Download your answers and hand the file in, or go back and look at them again.'),
    h('div', { class: 'ends' }, send,
      button('Download answers', () => download(fileName(done, 'json'), 'application/json', JSON.stringify(done, null, 1)),
        { class: batch.post_to ? null : 'main' }),
      button('Download as a table (CSV)', () => download(fileName(done, 'csv'), 'text/csv', asCsv(done)))),
    status,
    h('nav', { 'aria-label': 'Steps' }, button('Back', back),
      place + 1 < batch.hits.length ? button('Another task', () => { history.replaceState(null, '', '#'); startScreen(); }) : null)));
}

// ---- steps -------------------------------------------------------------------------------------------------

function complain(text, control) {
  document.getElementById('error').textContent = text;
  control?.focus();
}

function next() {
  const missing = needed(here())[0];
  if (missing) {
    const control = document.querySelector(`[data-question="${missing.id}"] :is(input, select, textarea, button)`);
    return complain('Choose an answer first.', control);
  }
  return go(1);
}

function back() {
  if (work.at > 0) go(-1);
}

function go(step) {
  clock();
  work.at += step;
  keep(batch, work);
  screen();
}

/** Digits go to the question in focus, else to the first that waits for an answer, else to the first. */
function questionForDigits() {
  const focused = document.activeElement?.closest?.('fieldset')?.dataset.question;
  const choosable = (one) => !['reveal', 'text', 'pick'].includes(one.kind);
  return focused ?? (needed(here()).find(choosable) ?? batch.questions.find(choosable))?.id;
}

function pressed(event) {
  if (event.altKey || event.ctrlKey || event.metaKey || event.isComposing || document.querySelector('dialog[open]')) return;
  if (!work || event.target.closest('select, textarea, input:not([type=radio]):not([type=checkbox])')) return;
  const atEnd = work.at >= hit.items.length;
  const digit = /^[1-9]$/.test(event.key) ? Number(event.key) : 0;
  if (event.key === 'ArrowLeft') back();
  else if (atEnd) return;
  else if (event.key === 'ArrowRight') next();
  else if (event.key === 'Enter' && !event.target.closest('button')) next();
  else if (event.key === 't' || event.key === 'T') openTutorial();
  else if (digit) {
    const control = document.getElementById(`${questionForDigits()}-${digit - 1}`);
    if (!control) return;
    control.focus();
    control.click();
    if (control.value === OTHER) document.getElementById(`${control.name}-list`).focus();
  } else return;
  event.preventDefault();
}

function route() {
  const last = lastWork(batch);
  const named = address().get('hit');
  const known = named && batch.hits.find((one) => one.id === named);
  if (known && last?.hit === named && !address().has('worker')) begin(known, last.worker);
  else startScreen(named && !known ? `There is no task ${named} in this batch.` : '');
}

document.addEventListener('keydown', pressed);
document.addEventListener('visibilitychange', () => { if (work) save(); });
window.addEventListener('pagehide', () => { if (work) save(); });
window.addEventListener('hashchange', () => { if (work) save(); route(); });
document.title = batch.title;
route();
