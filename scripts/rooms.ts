// Checks the import rules between rooms: imports go one way. Run by `npm run lint`.
import path from 'node:path';
import { cruise } from 'dependency-cruiser';
import type { IConfiguration, ICruiseResult } from 'dependency-cruiser';

/** From left to right: a room may import from any room to its left. */
const CHAIN = ['watchable', 'kube', 'controller', 'api', 'traffic'];
/** These come after the chain and never import each other. */
const PRODUCT = ['environments', 'targets', 'mesh', 'routing'];
/** Then these, from left to right. */
const LAST = ['playground', 'dashboard', 'cli'];
/**
 * The command line may import only the `index.ts` of these rooms. `kube`, `api` and `embedded` are libraries whose
 * modules can be used separately, so that using one does not load the others.
 */
const ONLY_BY_INDEX = ['watchable', 'controller', 'traffic', ...PRODUCT, 'playground', 'dashboard'];
const TESTS = '[.]test[.]ts$|/testing/';
/** The modules that describe objects: a folder `describe/` or a file `describe.ts` of a room. Those of `cli` print. */
const DESCRIBING = { path: '^src/.*/describe(/|[.]ts$)|^src/api/description/', pathNot: `^src/cli/|${TESTS}` };
/** The modules of `kube` that the embedded cluster may use: types and formats of objects. See decision 002. */
export const FOR_EMBEDDED = ['annotations', 'times', 'objects', 'json', 'pki', 'der', 'selector', 'quantity'];

function mayImport(room: string): string[] {
  const position = CHAIN.indexOf(room);
  if (position >= 0) return CHAIN.slice(0, position);
  if (PRODUCT.includes(room)) return CHAIN;
  const before = [...CHAIN, ...PRODUCT, ...LAST.slice(0, LAST.indexOf(room))];
  return room === 'cli' ? [...before, 'embedded'] : before;
}

function rule(name: string, from: string, allowed: readonly string[]): unknown {
  return {
    name,
    severity: 'error',
    from: { path: from, pathNot: '[.]test[.]ts$' },
    to: { path: '^src/', pathNot: allowed },
  };
}

const configuration = {
  forbidden: [
    ...[...CHAIN, ...PRODUCT, ...LAST].map((room) =>
      rule(`${room}-imports-leftwards`, `^src/${room}/`, [`^src/(${[room, 'cli', ...mayImport(room)].join('|')})/`]),
    ),
    rule('embedded-stands-alone', '^src/embedded/', [
      '^src/(embedded|watchable|cli)/',
      `^src/kube/(${FOR_EMBEDDED.join('|')})[.]ts$`,
    ]),
    {
      // Only the command line prints.
      name: 'only-cli-imports-cli',
      severity: 'error',
      from: { path: '^src/', pathNot: `^src/cli/|${TESTS}` },
      to: { path: '^src/cli/' },
    },
    {
      name: 'cli-knows-no-internals',
      severity: 'error',
      from: { path: '^src/cli/', pathNot: TESTS },
      to: { path: `^src/(${ONLY_BY_INDEX.join('|')})/`, pathNot: `^src/(${ONLY_BY_INDEX.join('|')})/index[.]ts$` },
    },
    {
      // Descriptions are pure functions: the caller reads the objects and prints the result.
      name: 'describing-is-pure',
      severity: 'error',
      from: DESCRIBING,
      to: { path: '^src/kube/(client|tables)/', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'describing-uses-nothing-of-node',
      severity: 'error',
      from: DESCRIBING,
      to: { dependencyTypes: ['core'] },
    },
    {
      name: 'watchable-depends-on-nothing',
      severity: 'error',
      from: { path: '^src/watchable/', pathNot: '[.]test[.]ts$' },
      to: { dependencyTypesNot: ['local', 'core', 'type-only'] },
    },
    {
      name: 'product-needs-no-test-code',
      severity: 'error',
      from: { path: '^src/', pathNot: '[.]test[.]ts$' },
      to: { path: '^(test|bench|scripts)/|[.]test[.]ts$' },
    },
    {
      // What is in a folder `testing/` serves tests alone.
      name: 'testing-serves-tests',
      severity: 'error',
      from: { path: '^src/', pathNot: TESTS },
      to: { path: '^src/.*/testing/' },
    },
    {
      name: 'no-cycles',
      severity: 'error',
      from: { path: '^src/' },
      to: { circular: true, viaOnly: { dependencyTypesNot: ['type-only'] } },
    },
  ],
} as IConfiguration;

export interface RoomReport {
  /** The number of modules that were read; 0 means that the check itself is broken. */
  readonly modules: number;
  readonly violations: readonly string[];
}

/** Reads all modules in `root/src` and reports imports that break a rule. */
export async function checkRooms(root: string): Promise<RoomReport> {
  const result = await cruise(
    ['src'],
    {
      baseDir: root,
      ruleSet: configuration,
      validate: true,
      doNotFollow: { path: 'node_modules' },
      parser: 'swc',
      tsPreCompilationDeps: true,
    },
    { extensions: ['.ts', '.tsx', '.js'] },
  );
  const { modules, summary } = result.output as ICruiseResult;
  return {
    modules: modules.filter((module) => module.source.startsWith('src/')).length,
    violations: summary.violations.map(({ rule: { name }, from, to }) => `${name}: ${from} → ${to}`),
  };
}

if (import.meta.main) {
  const { modules, violations } = await checkRooms(path.resolve(import.meta.dirname, '..'));
  for (const violation of violations) console.error(violation);
  if (modules === 0) console.error('no module was read: the check itself is broken');
  if (violations.length > 0 || modules === 0) process.exitCode = 1;
  else console.log(`room rules hold for ${modules} modules`);
}
