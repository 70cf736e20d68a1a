// What a worker has done of a HIT, kept in the browser after every step.

const PREFIX = 'edos-lakehouse';

/** Whether the browser keeps anything; in some private windows it does not. */
function remembers() {
  try {
    localStorage.setItem(`${PREFIX}/test`, '1');
    localStorage.removeItem(`${PREFIX}/test`);
    return true;
  } catch {
    return false;
  }
}

const memory = {
  kept: remembers(),

  key(batch, hit, worker) {
    return [PREFIX, batch, hit, worker].map(encodeURIComponent).join('/');
  },

  read(key) {
    try {
      return JSON.parse(localStorage.getItem(key));
    } catch {
      return null;
    }
  },

  /** Writes a value; false where the browser refuses, so that the page can say so. */
  write(key, value) {
    try {
      localStorage.setItem(key, JSON.stringify(value));
      return true;
    } catch {
      this.kept = false;
      return false;
    }
  },
};

/** A HIT's work from memory, or a fresh one; what does not fit the batch is not taken. */
function workOn(batch, hit, worker) {
  const fresh = { hit: hit.id, worker, at: 0, started: new Date().toISOString(), items: {}, sent: false };
  const kept = memory.read(memory.key(batch.batch_id, hit.id, worker));
  if (!kept || kept.hit !== hit.id || kept.worker !== worker || !kept.items || typeof kept.items !== 'object') return fresh;
  const at = Number.isInteger(kept.at) ? Math.min(Math.max(kept.at, 0), hit.items.length) : 0;
  return { ...fresh, ...kept, at };
}

function keep(batch, work) {
  memory.write(memory.key(batch.batch_id, 'last', 'worker'), { hit: work.hit, worker: work.worker });
  return memory.write(memory.key(batch.batch_id, work.hit, work.worker), work);
}

function lastWork(batch) {
  return memory.read(memory.key(batch.batch_id, 'last', 'worker'));
}
