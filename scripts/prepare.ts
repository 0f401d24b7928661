// Run by `npm install`: builds the bundle unless it is up to date, because a running program may be using it.
import path from 'node:path';
import { linkCommands } from './link-commands.ts';
import { isBundleCurrent } from './source-states.ts';

const root = path.resolve(import.meta.dirname, '..');
if (isBundleCurrent(root)) linkCommands(root);
else await import('./build.ts');
