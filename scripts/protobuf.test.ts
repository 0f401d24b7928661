// The table of protobuf messages in the tree is the one that its generator makes.
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { describeNeeding } from '../test/support/needs.ts';
import { fetchModules, messageTable, tableFile } from './protobuf.ts';

const modules = await fetchModules().catch((error: Error) => `no Go modules of Kubernetes: ${error.message}`);
const need = {
  what: 'the table of protobuf messages',
  missing: typeof modules === 'string' ? modules : undefined,
  variable: 'OFFSHOOT_REAL_CLUSTER', // whose programs are built from the same modules
};

describeNeeding('protobuf', [need], () => {
  test('the table is what the Go modules of Kubernetes say', () => {
    const generated = messageTable(modules as Exclude<typeof modules, string>);
    expect(readFileSync(tableFile, 'utf8') === generated, 'write the table anew with "npm run protobuf"').toBe(true);
  });
});
