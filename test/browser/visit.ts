// A visit to the dashboard: a page that notes everything that a person would call broken.
import type { Browser, BrowserContextOptions, Page, Request } from 'playwright-core';

export interface Visit {
  readonly page: Page;
  /** Errors of scripts, refusals by the Content-Security-Policy, requests that failed, requests to elsewhere. */
  readonly wrong: readonly string[];
  /** Bytes that came over the wire, by path. */
  readonly loaded: ReadonlyMap<string, number>;
  end(): Promise<void>;
}

/** Opens a view. */
export async function visit(browser: Browser, url: string, options: BrowserContextOptions = {}): Promise<Visit> {
  const context = await browser.newContext({
    viewport: { width: 1280, height: 900 },
    reducedMotion: 'reduce',
    ...options,
  });
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  const page = await context.newPage();
  page.setDefaultTimeout(20_000);
  const wrong: string[] = [];
  const loaded = new Map<string, number>();
  const { origin } = new URL(url);
  page.on('pageerror', ({ message }) => wrong.push(message));
  page.on('console', (message) => {
    // What the server refuses is told on the page.
    const isToldThere = /status of 4\d\d|ERR_CONNECTION_REFUSED|ERR_INCOMPLETE_CHUNKED/.test(message.text());
    if (message.type() === 'error' && !isToldThere) wrong.push(message.text());
  });
  page.on('request', (request) => {
    if (!request.url().startsWith(origin)) wrong.push(`loads ${request.url()}`);
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
  return { page, wrong, loaded, end: () => context.close() };
}
