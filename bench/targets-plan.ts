// Measures the cost per claim of a plan with many new claims, and whether it grows with their number or with existing
// claims.
import { DeploymentTargetClaim, DeploymentTargetClass } from '../src/api/targets.ts';
import { forecast } from '../src/controller/index.ts';
import type { Intent } from '../src/controller/index.ts';
import { Tables } from '../src/kube/index.ts';
import type { ObjectMeta } from '../src/kube/index.ts';
import { planClaims, targets, targetTables } from '../src/targets/index.ts';
import { interleave, median, note, table, target } from './support.ts';

const SIZES = [10, 100, 1_000] as const;
const ROUNDS = 3;
const MOST_GROWTH = 2;
const API_VERSION = 'appstudio.redhat.com/v1alpha1';
const CLASS = 'some';
const NOW = Date.parse('2026-01-01T00:00:00Z');

/** Returns true when all targets are met. */
export async function run(): Promise<boolean> {
  const empty = tablesWithClass();
  const crowded = settled(empty, SIZES.at(-1)!);
  const plans: Readonly<Record<string, () => void>> = {
    ...Object.fromEntries(SIZES.map((size) => [`${size}`, () => plan(empty, size)])),
    crowded: () => plan(crowded, SIZES[0]),
  };
  const times = await interleave(ROUNDS, plans, 1);
  const each = SIZES.map((size) => median(times[`${size}`]!) / size);
  return table('a plan of new claims', [
    ...SIZES.map((size, i) => note(`${size} claims: each`, each[i]!, ' ms')),
    note(`${SIZES[0]} claims beside ${SIZES.at(-1)} that are bound: all`, median(times['crowded']!), ' ms'),
    target(`time for each of ${SIZES[2]} to each of ${SIZES[1]}`, each[2]! / each[1]!, MOST_GROWTH, 'atMost'),
  ]);
}

function plan(tables: Tables, size: number): void {
  const { claims } = planClaims({ controllers: targets(), tables, now: NOW, intents: claimsOf('new', size) });
  const bound = claims.filter(({ phase }) => phase === 'Bound').length;
  if (bound !== size) throw new Error(`${bound} of ${size} claims would be bound`);
}

function claimsOf(prefix: string, size: number): readonly Intent[] {
  return Array.from({ length: size }, (_none, i) => ({
    kind: DeploymentTargetClaim,
    put: {
      ...objectOf('DeploymentTargetClaim', { ...metadataOf(`${prefix}-${i}`), namespace: 'team' }),
      spec: { deploymentTargetClassName: CLASS },
    },
  }));
}

function metadataOf(name: string): ObjectMeta {
  return { name, generation: 1, creationTimestamp: '2025-12-31T00:00:00Z' };
}

function objectOf(kind: string, metadata: ObjectMeta) {
  return { apiVersion: API_VERSION, kind, metadata };
}

function tablesWithClass(): Tables {
  const tables = new Tables(targetTables);
  const metadata = { ...metadataOf(CLASS), uid: CLASS, resourceVersion: '1' };
  const spec = { provisioner: 'offshoot.dev/namespace', reclaimPolicy: 'Delete' } as const;
  tables.of(DeploymentTargetClass).observe({ ...objectOf('DeploymentTargetClass', metadata), spec });
  return tables;
}

/** The tables after `size` claims are bound, according to a forecast. */
function settled(tables: Tables, size: number): Tables {
  const { facts } = forecast({ controllers: targets(), tables, now: NOW, intents: claimsOf('old', size), seed: '' });
  const after = new Tables(targetTables);
  for (const { kind } of after) for (const object of facts.list(kind)) after.of(kind).observe(object);
  return after;
}

if (import.meta.main) process.exit((await run()) ? 0 : 1);
