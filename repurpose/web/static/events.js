// A run's lines as they come. The browser reconnects by itself and tells the server the last line
// it saw; where that does not help, the run is asked for at intervals instead.

const TYPES = [
  "section_started",
  "section_data",
  "section_completed",
  "composite_completed",
  "progress",
  "row_changed",
  "run_ended",
];
const PATIENCE = 4000; // A stream that is away for longer is stood in for by asking.
const INTERVAL = 3000;
const SLOWEST = 15000;

/**
 * Follow a run until `close` is called.
 * @param {string} path of the event stream
 * @param {object} to
 * @param {(type: string, payload: any) => void} to.line
 * @param {() => void} to.restarted the stream begins again from its first line
 * @param {(away: boolean) => void} to.connection
 * @param {() => void} to.poll called at intervals while the stream is away
 * @returns {{close: () => void}}
 */
export function follow(path, to) {
  let source;
  let last = 0;
  let wait = 1000;
  let away = false;
  let closed = false;
  const timers = { patience: 0, interval: 0, reopen: 0 };

  const opened = () => {
    wait = 1000;
    clearTimeout(timers.patience);
    clearInterval(timers.interval);
    timers.patience = timers.interval = 0;
    if (away) to.connection(false);
    away = false;
  };

  const lost = () => {
    if (closed) return;
    if (!away) to.connection(true);
    away = true;
    timers.patience ||= setTimeout(() => {
      to.poll();
      timers.interval = setInterval(to.poll, INTERVAL);
    }, PATIENCE);
    // After an error answer the browser gives up; a server that starts again is found this way.
    if (source.readyState === EventSource.CLOSED) {
      clearTimeout(timers.reopen);
      timers.reopen = setTimeout(open, wait);
      wait = Math.min(wait * 2, SLOWEST);
    }
  };

  const heard = (event) => {
    const number = Number(event.lastEventId) || 0;
    // Numbers only grow, so a smaller one means that everything is told again.
    if (number && number <= last) to.restarted();
    if (number) last = number;
    let payload;
    try {
      payload = JSON.parse(event.data);
    } catch {
      return; // Cut short on its way; the section's end tells it whole.
    }
    to.line(event.type, payload);
  };

  function open() {
    if (closed) return;
    source?.close();
    if (last) to.restarted();
    last = 0;
    source = new EventSource(path);
    source.onopen = opened;
    source.onerror = lost;
    for (const type of TYPES) source.addEventListener(type, heard);
  }

  open();
  return {
    close() {
      closed = true;
      source.close();
      clearTimeout(timers.patience);
      clearInterval(timers.interval);
      clearTimeout(timers.reopen);
    },
  };
}
