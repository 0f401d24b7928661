// The pages that lead a newcomer into a cluster, to the letter: their commands are run on the real node with the real
// Istio, and at the end of each the API server is as it was.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { helms } from '../chart/helm.ts';
import { codeBlocks } from '../support/code-blocks.ts';
import type { CodeBlock } from '../support/code-blocks.ts';
import { everything } from './everything.ts';
import { describeNode } from './index.ts';
import { openTerminal } from './terminal.ts';
import type { Terminal } from './terminal.ts';

const root = path.resolve(import.meta.dirname, '../..');
const { program: helm, describeIt } = helms.at(-1)!;

function blocksOf(page: string): readonly CodeBlock[] {
  return codeBlocks(page, readFileSync(path.join(root, page), 'utf8'));
}

describeNode('pages for newcomers', (node) => {
  describeIt('with what is in the package', () => {
    let terminal: Terminal;
    let before: readonly string[];
    beforeAll(async () => {
      terminal = openTerminal(node(), helm);
      before = await everythingNow();
    }, 60_000);
    afterAll(() => terminal?.close());

    const everythingNow = (): Promise<readonly string[]> => everything(node().kubectl);
    /** What the API server keeps for definitions goes a moment after them. */
    const aMomentLater = { timeout: 60_000, interval: 500 };

    test('the quick start leads to an environment that answers by its header, and back', async () => {
      const started = performance.now();
      const blocks = blocksOf('docs/guide/quick-start.md');
      expect(await terminal.run(blocks)).toEqual([]);
      const seconds = Math.round((performance.now() - started) / 1000);
      process.stderr.write(`real node: the commands of the quick start took ${seconds} s\n`);
      expect(blocks.some(({ code }) => code.includes("curl -s -H 'x-env: pr-7'"))).toBe(true);
      await expect.poll(everythingNow, aMomentLater).toEqual(before);
    }, 600_000);

    test('an installation without Helm, and offshoot uninstall', async () => {
      const page = blocksOf('docs/operations/install.md');
      const [push] = page.filter(({ code }) => code.includes('skopeo copy')) as [CodeBlock];
      const blocks = page.filter(({ section }) => section === 'Without Helm');
      expect(blocks.map(({ code }) => code).join('\n')).toContain('offshoot uninstall');
      expect(await terminal.run([{ ...push, language: 'sh' }, ...blocks])).toEqual([]);
      await expect.poll(everythingNow, aMomentLater).toEqual(before);
    }, 300_000);
  });
});
