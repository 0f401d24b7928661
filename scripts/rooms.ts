// Holds the room rules: imports go one way. Run by `npm run lint`; rooms.test.ts proves that it notices a violation.
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
 * The command line uses these rooms by their `index.ts` alone: how they plan is theirs. `kube`, `api` and `embedded` are
 * libraries of which every module can be used by itself, and loading one of them must not load the others.
 */
const WITH_ONE_DOOR = ['watchable', 'controller', 'traffic', ...PRODUCT, 'playground', 'dashboard'];
const TESTS = '[.]test[.]ts$|/testing/';
/** The embedded cluster knows the shape of objects and how they are written, nothing else of `kube`. */
const FOR_EMBEDDED = ['annotations', 'times', 'objects', 'json', 'pki', 'der', 'selector', 'quantity'];

function mayImport(room: string): string[] {
  const place = CHAIN.indexOf(room);
  if (place >= 0) return CHAIN.slice(0, place);
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
      // What prints is in the command line; only it, and a dashboard that has its own, speak to people directly.
      name: 'only-cli-imports-cli',
      severity: 'error',
      from: { path: '^src/', pathNot: `^src/cli/|${TESTS}` },
      to: { path: '^src/cli/' },
    },
    {
      name: 'cli-knows-no-internals',
      severity: 'error',
      from: { path: '^src/cli/', pathNot: TESTS },
      to: { path: `^src/(${WITH_ONE_DOOR.join('|')})/`, pathNot: `^src/(${WITH_ONE_DOOR.join('|')})/index[.]ts$` },
    },
    {
      // What users are told is data: whoever shows it has read it, and prints it.
      name: 'describing-is-pure',
      severity: 'error',
      from: { path: '^src/[^/]+/describe/|^src/api/description/', pathNot: TESTS },
      to: { path: '^src/kube/(client|tables)/', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'describing-uses-nothing-of-node',
      severity: 'error',
      from: { path: '^src/[^/]+/describe/|^src/api/description/', pathNot: TESTS },
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
      name: 'no-cycles',
      severity: 'error',
      from: { path: '^src/' },
      to: { circular: true, viaOnly: { dependencyTypesNot: ['type-only'] } },
    },
  ],
} as IConfiguration;

export interface RoomReport {
  /** How many modules were read: a report on none proves nothing. */
  readonly modules: number;
  readonly violations: readonly string[];
}

/** Reads every module under `root/src` and reports imports that break a rule. */
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
