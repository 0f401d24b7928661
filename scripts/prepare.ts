// Run by `npm install`: makes the bundle unless there is one of the same sources, which a running program may be reading.
import path from 'node:path';
import { linkCommands } from './link-commands.ts';
import { isBundleCurrent } from './source-states.ts';

const root = path.resolve(import.meta.dirname, '..');
if (isBundleCurrent(root)) linkCommands(root);
else await import('./build.ts');
