// The committed table of protobuf messages is up to date.
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { describeRequiring } from '../test/support/requirements.ts';
import { fetchModules, messageTable, tableFile } from './protobuf.ts';

const modules = await fetchModules().catch((error: Error) => `no Go modules of Kubernetes: ${error.message}`);
const requirement = {
  what: 'the table of protobuf messages',
  missing: typeof modules === 'string' ? modules : undefined,
  variable: 'OFFSHOOT_REAL_CLUSTER', // whose programs are built from the same modules
};

describeRequiring('protobuf', [requirement], () => {
  test('the message table matches the Go modules of Kubernetes', () => {
    const generated = messageTable(modules as Exclude<typeof modules, string>);
    expect(readFileSync(tableFile, 'utf8') === generated, 'write the table anew with "npm run protobuf"').toBe(true);
  });
});
