// A thousand environments: the page renders few rows, shows changes at once, and stays responsive.
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readRequest } from '../../src/cli/explain/request.ts';
import { DynamicEnv } from '../../src/api/dynamicenv.ts';
import { createDashboard } from '../../src/dashboard/index.ts';
import type { Dashboard } from '../../src/dashboard/index.ts';
import { ROW_KINDS } from '../../src/dashboard/model/rows.ts';
import { Events } from '../../src/dashboard/model/reader.ts';
import { environmentTables } from '../../src/environments/index.ts';
import { Tables } from '../../src/kube/index.ts';
import type { Client } from '../../src/kube/index.ts';
import { describeRequiring } from '../support/requirements.ts';
import { browserRequirement, startBrowser } from './chromium.ts';
import { visit } from './visit.ts';

const COUNT = 1_000;

function environment(i: number, version: number, state: string): DynamicEnv {
  const name = `pr-${String(i).padStart(4, '0')}`;
  return {
    apiVersion: 'riskified.com/v1alpha1',
    kind: 'DynamicEnv',
    metadata: {
      name,
      namespace: 'shop',
      uid: name,
      resourceVersion: String(version),
      creationTimestamp: new Date(Date.UTC(2026, 0, 1) - i * 60_000).toISOString(),
    },
    spec: {
      key: name,
      subsets: [{ name: 'cart', namespace: 'shop', containers: [{ containerName: 'cart', image: `cart:${i}` }] }],
    },
    status: { state, subsetsStatus: {}, totalReady: state === 'ready' ? 1 : 0 },
  };
}

describeRequiring('a thousand environments', [browserRequirement], () => {
  let browser: Browser;
  let dashboard: Dashboard;
  const tables = new Tables([...Object.values(ROW_KINDS), ...environmentTables, Events]);
  const environments = tables.of(DynamicEnv);

  beforeAll(async () => {
    for (const table of tables) table.replaceAll([], '1');
    environments.replaceAll(
      Array.from({ length: COUNT }, (_, i) => environment(i, 2, 'ready')),
      '2',
    );
    const client = {} as Client;
    dashboard = await createDashboard({ tables, client, port: 0, version: 'test', readRequest });
    browser = await startBrowser();
  });
  afterAll(async () => {
    await browser?.close();
    await dashboard?.close();
  });

  test(
    'render only the visible rows, can be searched, and change without slow frames',
    { timeout: 60_000 },
    async () => {
      const opened = await visit(browser, dashboard.url);
      const { page } = opened;
      await page.getByText(`${COUNT} environments ready.`).waitFor();
      const drawn = (): Promise<number> => page.locator('.rows .row').count();
      expect(await drawn()).toBeLessThan(60);
      expect(await page.getByRole('table').getAttribute('aria-rowcount')).toBe(String(COUNT + 1));
      await page.evaluate(() => scrollTo(0, document.documentElement.scrollHeight));
      await page.getByText('shop/pr-0999').waitFor();
      expect(await drawn()).toBeLessThan(60);
      await page.evaluate(() => scrollTo(0, 0));

      // Measures the frames while a hundred environments change, ten times over.
      await page.evaluate(() => {
        const frames: number[] = [];
        Object.assign(globalThis, { frames });
        let last = performance.now();
        const frame = (now: number): void => {
          frames.push(now - last);
          last = now;
          requestAnimationFrame(frame);
        };
        requestAnimationFrame(frame);
      });
      for (let round = 0; round < 10; round++) {
        const state = round % 2 === 0 ? 'processing' : 'ready';
        for (let i = 0; i < 100; i++)
          environments.event({ type: 'MODIFIED', object: environment(i, 10 + round * 100 + i, state) });
        await page.getByText(state === 'ready' ? `${COUNT} environments ready.` : '100 in progress').waitFor();
      }
      const frames = await page.evaluate(() => (globalThis as unknown as { readonly frames: number[] }).frames);
      // On a busy machine some frames are late.
      const quick = frames.filter((ms) => ms < 100).length;
      expect(quick / frames.length).toBeGreaterThan(0.7);

      await page.keyboard.press('/');
      await page.keyboard.type('cart:512');
      await page.getByText(`1 of ${COUNT}`).waitFor();
      expect(await page.locator('.rows .row').innerText()).toContain('pr-0512');
      expect(opened.problems).toEqual([]);
      await opened.end();
    },
  );
});
