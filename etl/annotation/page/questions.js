// One question as form controls. Each kind reads and writes an answer: {value}, {value, other} or {values}.

const OTHER = '\u0000other';

function questionOf(question, item, lessons, given, changed) {
  const make = { choice: choiceOf, scale: choiceOf, compare: choiceOf, several: severalOf, pick: pickOf, reveal: revealOf, text: textOf };
  return make[question.kind](question, item, lessons, given, changed);
}

/** Whether an answer is one. */
function answered(answer) {
  if (!answer) return false;
  return Array.isArray(answer.values) ? answer.values.length > 0 : answer.value !== undefined && answer.value !== '';
}

function optionsOf(question, item) {
  return question.options.length ? question.options : item.options;
}

function group(question, ...children) {
  const optional = question.required ? null : h('span', { class: 'optional' }, ' (may be left out)');
  const note = question.note ? h('p', { class: 'note', id: `${question.id}-note` }, question.note) : null;
  return h('fieldset', { 'data-question': question.id, 'aria-describedby': note ? note.id : null },
    h('legend', {}, question.prompt, optional), note, ...children);
}

function option(type, question, place, value, text, checked, chosen) {
  const id = `${question.id}-${place}`;
  const digit = place < 9 ? h('kbd', { 'aria-hidden': 'true' }, String(place + 1)) : null;
  const input = h('input', { type, id, name: question.id, value, checked, onchange: chosen });
  return h('label', { class: 'option', for: id }, input, h('span', { class: 'name' }, text), digit);
}

function choiceOf(question, item, lessons, given, changed) {
  const options = optionsOf(question, item);
  const rows = options.map((one, place) =>
    option('radio', question, place, one.value, one.text, given?.value === one.value && !given.other,
      () => changed({ value: one.value })));
  if (question.other.length) rows.push(otherOf(question, options, given, changed));
  const scale = question.kind === 'scale' ? ' scale' : '';
  return group(question, h('div', { class: `options${scale}` }, rows), examplesOf(question, options, lessons));
}

function otherOf(question, options, given, changed) {
  const offered = new Set(options.map((one) => one.value));
  const rest = question.other.filter((one) => !offered.has(one.value));
  const list = h('select', { 'aria-label': 'Which other one?', id: `${question.id}-list` },
    h('option', { value: '' }, 'Choose …'),
    rest.map((one) => h('option', { value: one.value, selected: Boolean(given?.other && given.value === one.value) }, one.text)));
  const own = question.own_words ? h('input', { type: 'text', id: `${question.id}-own`, maxlength: '100', autocomplete: 'off',
    'aria-label': 'Or your own word', placeholder: 'or your own word' }) : null;
  if (own && given?.other && !rest.some((one) => one.value === given.value)) own.value = given.value ?? '';
  const take = () => changed({ value: own?.value.trim() || list.value, other: true });
  const row = option('radio', question, options.length, OTHER, 'Other', Boolean(given?.other), take);
  list.addEventListener('change', () => {
    if (own) own.value = '';
    row.querySelector('input').checked = true;
    take();
  });
  own?.addEventListener('input', () => {
    if (own.value.trim()) list.value = '';
    row.querySelector('input').checked = true;
    take();
  });
  return h('div', { class: 'other' }, row, list, own);
}

function severalOf(question, item, lessons, given, changed) {
  const options = optionsOf(question, item);
  const values = new Set(given?.values ?? []);
  const rows = options.map((one, place) =>
    option('checkbox', question, place, one.value, one.text, values.has(one.value), (event) => {
      if (!event.target.checked) values.delete(one.value);
      else if (question.most && values.size >= question.most && one.value !== question.none) event.target.checked = false;
      else if (one.value === question.none) values.clear(), values.add(one.value);
      else values.delete(question.none), values.add(one.value);
      for (const box of rows.map((row) => row.querySelector('input'))) box.checked = values.has(box.value);
      changed({ values: options.map((other) => other.value).filter((value) => values.has(value)) });
    }));
  return group(question, h('div', { class: 'options' }, rows), examplesOf(question, options, lessons));
}

function pickOf(question, item, lessons, given, changed) {
  const list = h('select', { id: `${question.id}-list`, 'aria-label': question.prompt, onchange: () => changed({ value: list.value }) },
    h('option', { value: '' }, 'Choose …'),
    question.options.map((one) => h('option', { value: one.value, selected: given?.value === one.value }, one.text)));
  return group(question, list);
}

function revealOf(question, item, lessons, given, changed) {
  const text = h('p', { class: 'hidden-part', hidden: !given?.value, tabindex: '-1' }, item.hidden ?? '');
  const opener = button('Show', () => {
    text.hidden = false;
    opener.hidden = true;
    changed({ value: true });
    text.focus();
  }, { hidden: Boolean(given?.value), 'aria-label': `Show: ${question.prompt}` });
  return group({ ...question, required: true }, opener, text);
}

function textOf(question, item, lessons, given, changed) {
  const area = h('textarea', { id: `${question.id}-text`, rows: '2', maxlength: question.most ?? 500,
    'aria-label': question.prompt, oninput: () => changed({ value: area.value }) });
  area.value = given?.value ?? '';
  return group(question, area);
}

function examplesOf(question, options, lessons) {
  const known = question.from_tutorial ? options.map((one) => lessons.get(one.value)).filter(Boolean) : [];
  if (!known.length) return null;
  return h('section', { class: 'examples', 'aria-label': 'From the tutorial' },
    h('h2', {}, 'From the tutorial'),
    h('dl', {}, known.map((one) => [h('dt', {}, one.name), h('dd', {}, one.example)])));
}
