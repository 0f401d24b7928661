// A visit to the dashboard: a page that records everything that a person would call broken.
import type { Browser, BrowserContextOptions, Page, Request } from 'playwright-core';
import { afterEach } from 'vitest';

export interface Visit {
  readonly page: Page;
  /** Script errors, violations of the Content-Security-Policy, failed requests, requests to other origins. */
  readonly problems: readonly string[];
  /** Bytes received, by path. */
  readonly loaded: ReadonlyMap<string, number>;
  end(): Promise<void>;
}

/** Opens a page, and waits for its headline. */
export async function visit(browser: Browser, url: string, options: BrowserContextOptions = {}): Promise<Visit> {
  const context = await browser.newContext({
    viewport: { width: 1280, height: 900 },
    reducedMotion: 'reduce',
    ...options,
  });
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  const page = await context.newPage();
  page.setDefaultTimeout(20_000);
  const problems: string[] = [];
  const loaded = new Map<string, number>();
  const { origin } = new URL(url);
  page.on('pageerror', ({ message }) => problems.push(message));
  page.on('console', (message) => {
    // The page itself shows these.
    const isShownThere = /status of 4\d\d|ERR_CONNECTION_REFUSED|ERR_INCOMPLETE_CHUNKED/.test(message.text());
    if (message.type() === 'error' && !isShownThere) problems.push(message.text());
  });
  page.on('request', (request) => {
    if (!request.url().startsWith(origin)) problems.push(`loads ${request.url()}`);
  });
  const sizes: Promise<void>[] = [];
  const measure = async (request: Request): Promise<void> => {
    const { responseBodySize, responseHeadersSize } = await request.sizes();
    loaded.set(new URL(request.url()).pathname, responseBodySize + responseHeadersSize);
  };
  page.on('requestfinished', (request) => void sizes.push(measure(request).catch(() => {})));
  await page.goto(url);
  await page.locator('h1').waitFor();
  await Promise.all(sizes);
  return { page, problems, loaded, end: () => context.close() };
}

export interface Visits {
  /** The visits of the running test. */
  readonly all: readonly Visit[];
  readonly open: (path: string, options?: BrowserContextOptions) => Promise<Page>;
}

/** Visits that end with their test, which fails if one of them had problems. */
export function visitsTo(place: () => { readonly browser: Browser; readonly url: string }): Visits {
  const all: Visit[] = [];
  afterEach(async () => {
    const ended = all.splice(0);
    for (const each of ended) await each.end();
    const problems = ended.flatMap((each) => each.problems);
    if (problems.length > 0) throw new Error(problems.join('\n'));
  });
  return {
    all,
    open: async (path, options) => {
      const { browser, url } = place();
      const opened = await visit(browser, new URL(path, url).href, options);
      all.push(opened);
      return opened.page;
    },
  };
}
