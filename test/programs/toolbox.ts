// The program of the pods on the real node, from its source in this repository.
import { createHash } from 'node:crypto';
import { copyFileSync, mkdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { goBuild, writeModule } from './go.ts';
import type { ProgramSet } from './programs.ts';

const source = path.resolve(import.meta.dirname, '../node/toolbox/main.go');

export const toolbox: ProgramSet<'toolbox'> = {
  name: 'toolbox',
  title: 'the program of test pods',
  versions: [createHash('sha256').update(readFileSync(source)).digest('hex').slice(0, 12)],
  programs: ['toolbox'],
  variable: 'OFFSHOOT_NODE_PROGRAMS',
  advice: 'run `npm run real-node -- fetch` (needs Go)',
  async build({ work, bin, log }) {
    writeModule(work, { go: '1.24', require: {} });
    mkdirSync(path.join(work, 'toolbox'));
    copyFileSync(source, path.join(work, 'toolbox', 'main.go'));
    await goBuild({ work, bin, packages: ['./toolbox'], log });
  },
};
