// `npm run bench [name …]`: runs the benchmarks, each in its own process, and fails if one misses a target.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';

const ALL = [
  'watchable',
  'client',
  'controller',
  'idle',
  'environments',
  'environments-plan',
  'shared-virtual-service',
  'targets',
  'targets-plan',
  'mesh-restarts',
  'routing',
  'traffic',
  'proofs',
  'embedded',
  'envtest',
  'cli',
];

const requested = process.argv.slice(2);
const unknown = requested.filter((name) => !existsSync(path.join(import.meta.dirname, `${name}.ts`)));
if (unknown.length > 0) {
  console.error(`no benchmark named ${unknown.join(', ')}: there are ${ALL.join(', ')}`);
  process.exit(1);
}

const missed = (requested.length > 0 ? requested : ALL).filter((name) => {
  const file = path.join(import.meta.dirname, `${name}.ts`);
  return spawnSync(process.execPath, ['--expose-gc', file], { stdio: 'inherit' }).status !== 0;
});
if (missed.length > 0) console.error(`\ntargets missed in: ${missed.join(', ')}`);
process.exit(missed.length > 0 ? 1 : 0);
