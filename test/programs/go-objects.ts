// The program that encodes objects with Go's own types, from its source in this repository.
import { createHash } from 'node:crypto';
import { copyFileSync, mkdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { goBuild, writeModule } from './go.ts';
import type { ProgramSet } from './programs.ts';

const source = path.resolve(import.meta.dirname, '../embedded/go-objects/main.go');
const release = 'v0.36.4';

export const goObjects: ProgramSet<'go-objects'> = {
  name: 'go-objects',
  title: 'the program that encodes objects in Go',
  versions: [createHash('sha256').update(readFileSync(source)).digest('hex').slice(0, 12)],
  programs: ['go-objects'],
  variable: 'OFFSHOOT_GO_OBJECTS',
  advice: 'run `npm run real-cluster -- fetch` (needs Go)',
  async build({ work, bin, log }) {
    const modules = ['api', 'apimachinery', 'apiextensions-apiserver', 'client-go'].map((name) => `k8s.io/${name}`);
    const require = Object.fromEntries(modules.map((name) => [name, release]));
    writeModule(work, { go: '1.26.0', require });
    mkdirSync(path.join(work, 'go-objects'));
    copyFileSync(source, path.join(work, 'go-objects', 'main.go'));
    await goBuild({ work, bin, packages: ['./go-objects'], log });
  },
};
