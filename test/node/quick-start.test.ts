// The getting-started pages: runs their commands on the real node with the real Istio, and checks that nothing is left
// in the cluster at the end of each.
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

describeNode('getting-started pages', (node) => {
  describeIt('with the files of the package', () => {
    let terminal: Terminal;
    let before: readonly string[];
    beforeAll(async () => {
      terminal = openTerminal(node(), helm);
      before = await everythingNow();
    }, 60_000);
    afterAll(() => terminal?.close());

    const everythingNow = (): Promise<readonly string[]> => everything(node().kubectl);
    /** Objects that the API server keeps for definitions are deleted a moment after them. */
    const aMomentLater = { timeout: 60_000, interval: 500 };

    test('the quick start creates an environment that is reached by its header, and cleans up', async () => {
      const started = performance.now();
      const blocks = blocksOf('docs/guide/quick-start.md');
      expect(await terminal.run(blocks)).toEqual([]);
      const seconds = Math.round((performance.now() - started) / 1000);
      process.stderr.write(`real node: the commands of the quick start took ${seconds} s\n`);
      expect(blocks.some(({ code }) => code.includes("curl -s -H 'x-env: pr-7'"))).toBe(true);
      await expect.poll(everythingNow, aMomentLater).toEqual(before);
    }, 600_000);

    test('the installation without Helm works, and offshoot uninstall removes it', async () => {
      const page = blocksOf('docs/operations/install.md');
      const [push] = page.filter(({ code }) => code.includes('skopeo copy')) as [CodeBlock];
      const blocks = page.filter(({ section }) => section === 'Without Helm');
      expect(blocks.map(({ code }) => code).join('\n')).toContain('offshoot uninstall');
      expect(await terminal.run([{ ...push, language: 'sh' }, ...blocks])).toEqual([]);
      await expect.poll(everythingNow, aMomentLater).toEqual(before);
    }, 300_000);
  });
});
