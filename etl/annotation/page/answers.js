// Answers as they leave the page: JSON, and CSV that no spreadsheet takes for formulas.

const COLUMNS = ['batch_id', 'hit_id', 'worker_id', 'item_id', 'position', 'question', 'value', 'other', 'seconds', 'submitted'];

function answersOf(batch, hit, work) {
  return {
    format: 'edos-lakehouse answers 1',
    batch_id: batch.batch_id,
    hit_id: hit.id,
    worker_id: work.worker,
    started: work.started,
    submitted: new Date().toISOString(),
    answers: hit.items.map((item, place) => ({
      item_id: item.id,
      position: place + 1,
      seconds: Math.round((work.items[item.id]?.seconds ?? 0) * 10) / 10,
      answers: Object.fromEntries(Object.entries(work.items[item.id]?.answers ?? {}).filter(([, one]) => answered(one))),
    })),
  };
}

function cell(value) {
  const text = String(value ?? '');
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return `"${safe.replaceAll('"', '""')}"`;
}

function asCsv(done) {
  const rows = done.answers.flatMap((item) => Object.entries(item.answers).map(([question, one]) => [
    done.batch_id, done.hit_id, done.worker_id, item.item_id, item.position, question,
    one.values ? one.values.join('|') : one.value, one.other ? 'true' : 'false', item.seconds, done.submitted,
  ]));
  return [COLUMNS, ...rows].map((row) => `${row.map(cell).join(',')}\r\n`).join('');
}

function fileName(done, ending) {
  return `answers-${done.hit_id}-${done.worker_id.replace(/[^A-Za-z0-9_-]+/g, '_').slice(0, 40)}.${ending}`;
}

async function post(url, done) {
  const reply = await fetch(url, {
    method: 'POST', mode: 'cors', credentials: 'omit', redirect: 'error',
    headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(done),
  });
  if (!reply.ok) throw new Error(`the server said ${reply.status}`);
}
