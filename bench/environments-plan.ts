// Measures the cost per environment of a plan with many new environments of one workload, and whether it grows with
// their number. All get routes in one VirtualService, two each because of their key, are proved, and have their
// requests compared.
import { DynamicEnv } from '../src/api/dynamicenv.ts';
import type { Intent } from '../src/controller/index.ts';
import { defaultSettings, environments, environmentTables, planEnvironments } from '../src/environments/index.ts';
import { tablesOf } from '../src/kube/index.ts';
import type { Tables } from '../src/kube/index.ts';
import { worldTables } from '../src/traffic/index.ts';
import { environment, workload } from '../test/environments/workload.ts';
import { interleave, median, note, timedByCpu, table, target } from './support.ts';

const SIZES = [10, 100, 1_000] as const;
const [ROUNDS, WARM_UPS] = [2, 1];
const MOST_GROWTH = 1.5;
const NOW = Date.parse('2026-01-01T00:00:00Z');

/** Returns true when all targets are met. */
export async function run(): Promise<boolean> {
  const tables = tablesOf([...environmentTables, ...worldTables], Object.values(workload('shop', 'cart')));
  const plans = SIZES.map((size) => timedByCpu(() => plan(tables, size), WARM_UPS));
  await interleave(ROUNDS, Object.fromEntries(SIZES.map((size, i) => [`${size}`, plans[i]!.run])), WARM_UPS);
  const each = SIZES.map((size, i) => median(plans[i]!.times()) / size);
  return table('a plan of new environments with a key each on one VirtualService', [
    ...SIZES.map((size, i) => note(`${size} environments: each`, each[i]!, ' ms')),
    target(`time for each of ${SIZES[2]} to each of ${SIZES[1]}`, each[2]! / each[1]!, MOST_GROWTH, 'atMost'),
  ]);
}

function plan(tables: Tables, size: number): void {
  const intents = Array.from({ length: size }, (_none, i): Intent => {
    const env = environment('shop', `pr-${i}`, [{ name: 'cart', namespace: 'shop' }]);
    const { istioMatches: _matches, ...spec } = env.spec;
    const put: DynamicEnv = { ...env, spec: { ...spec, key: `pr-${i}` } };
    return { kind: DynamicEnv, put };
  });
  const settings = defaultSettings;
  const made = planEnvironments({ controllers: environments(), settings, tables, now: NOW, intents });
  const { changes, isPartial } = made.traffic;
  const isWhole =
    made.environments.every(({ state }) => state === 'ready') && changes.length === 2 * size && !isPartial;
  if (!isWhole) throw new Error(`${changes.length / 2} of ${size} environments would get requests`);
}

if (import.meta.main) process.exit((await run()) ? 0 : 1);
