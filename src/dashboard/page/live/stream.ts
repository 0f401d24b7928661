// A stream of JSON lines that reconnects automatically. It is closed while the page is hidden: browsers allow few
// connections per server.

/** The connection counts as dead after this silence: the server sends a heartbeat every 10 s. */
const SILENCE_MS = 25_000;
const FIRST_RETRY_MS = 500;
const LAST_RETRY_MS = 8_000;

export interface StreamEvents<L> {
  line(line: L): void;
  /** The stream is connected. */
  open(): void;
  /** The connection is lost, and why. */
  lost(problem: string): void;
  /** The server requires signing in. */
  signedOut(problem: string): void;
}

/** The server answered 401. */
class SignedOut extends Error {}

/** Follows a stream until the returned function is called. */
export function follow<L>(path: string, events: StreamEvents<L>): () => void {
  let current: AbortController | undefined;
  let retryMs = FIRST_RETRY_MS;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isEnded = false;

  const start = (): void => {
    if (isEnded || document.hidden || current !== undefined) return;
    clearTimeout(timer);
    const own = (current = new AbortController());
    read<L>(path, own, {
      ...events,
      open() {
        retryMs = FIRST_RETRY_MS;
        events.open();
      },
    }).catch((error: unknown) => {
      if (current === own) current = undefined;
      if (own.signal.aborted && own.signal.reason === 'over') return;
      if (error instanceof SignedOut) {
        events.signedOut(error.message);
        return;
      }
      events.lost(error instanceof Error ? error.message : String(error));
      timer = setTimeout(start, retryMs);
      retryMs = Math.min(retryMs * 2, LAST_RETRY_MS);
    });
  };
  const stop = (): void => {
    clearTimeout(timer);
    current?.abort('over');
    current = undefined;
  };
  const visibilityChanged = (): void => (document.hidden ? stop() : start());
  const retryNow = (): void => {
    retryMs = FIRST_RETRY_MS;
    start();
  };
  document.addEventListener('visibilitychange', visibilityChanged);
  addEventListener('online', retryNow);
  start();
  return () => {
    isEnded = true;
    document.removeEventListener('visibilitychange', visibilityChanged);
    removeEventListener('online', retryNow);
    stop();
  };
}

/** Reads a stream until it fails: a live stream has no regular end. */
async function read<L>(path: string, own: AbortController, events: StreamEvents<L>): Promise<never> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const alive = (): void => {
    clearTimeout(timer);
    timer = setTimeout(() => own.abort(new Error('the server has stopped sending')), SILENCE_MS);
  };
  try {
    alive();
    const response = await fetch(path, { signal: own.signal, cache: 'no-store' });
    if (response.status === 401) throw new SignedOut(((await response.json()) as { readonly error: string }).error);
    if (!response.ok || response.body === null) throw new Error(await problemIn(response));
    events.open();
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    let rest = '';
    for (;;) {
      const { done, value } = await reader.read();
      if (done) throw new Error('the server has ended the connection');
      alive();
      const parts = (rest + value).split('\n');
      rest = parts.pop()!;
      for (const part of parts) if (part !== '') events.line(JSON.parse(part) as L);
    }
  } finally {
    clearTimeout(timer);
  }
}

async function problemIn(response: Response): Promise<string> {
  try {
    const { error, hint } = (await response.json()) as { readonly error?: string; readonly hint?: string };
    return [error, hint].filter(Boolean).join(': ');
  } catch {
    return `the server answers with ${response.status}`;
  }
}
