// Runs scenarios from the command line and prints every move:
//   node test/scenarios/run.ts PART/NAME … [--cluster embedded|real|node]
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { connect } from '../../src/kube/client/connect.ts';
import { loadConfig } from '../../src/kube/client/config/kubeconfig.ts';
import { ownClusters } from '../cluster/own.ts';
import { scenarios as ofEnvironments } from '../environments/all.ts';
import { startSession as startEnvironments } from '../environments/session.ts';
import type { Client } from '../../src/kube/client/client.ts';
import { scenarios as ofMeshes } from '../mesh-lifecycle/all.ts';
import { startSession as startMesh } from '../mesh-lifecycle/session.ts';
import { scenarios as ofRouting } from '../routing/all.ts';
import { startSession as startRouting } from '../routing/session.ts';
import { scenarios as ofTargets } from '../targets/all.ts';
import { startSession as startTargets } from '../targets/session.ts';
import type { Scenarios } from './scenario.ts';
import type { Session } from './session.ts';
import { Namespace } from '../support/core-kinds.ts';

interface Part {
  readonly scenarios: Scenarios;
  start(cluster: { kubeconfigPath: string; client: Client }, scenario: string): Promise<Session>;
}

const parts: Readonly<Record<string, Part>> = {
  environments: { scenarios: ofEnvironments, start: startEnvironments },
  'mesh-lifecycle': { scenarios: ofMeshes, start: startMesh },
  routing: { scenarios: ofRouting, start: startRouting },
  targets: {
    scenarios: ofTargets,
    start: (cluster, scenario) => startTargets(cluster, ofTargets.settings(scenario)),
  },
};

/** Runs the command; resolves with its exit code. */
export async function main(args: readonly string[], print: (line: string) => void): Promise<number> {
  const options = { cluster: { type: 'string', default: 'embedded' } } as const;
  const { values, positionals: names } = parseArgs({ args: [...args], options, allowPositionals: true });
  const all = Object.entries(parts).flatMap(([part, { scenarios }]) =>
    scenarios.names.map((name) => `${part}/${name}`),
  );
  const unknown = names.find((name) => !all.includes(name));
  if (names.length === 0 || unknown !== undefined || !(values.cluster in ownClusters)) {
    if (unknown !== undefined) print(`there is no scenario ${unknown}`);
    print(`usage: run.ts PART/NAME … [--cluster ${Object.keys(ownClusters).join('|')}]\n  ${all.join('\n  ')}`);
    return 64;
  }
  const images = names.flatMap((name) => imagesOf(name));
  const cluster = await ownClusters[values.cluster as keyof typeof ownClusters](images);
  const client = connect(loadConfig({ path: cluster.kubeconfigPath }));
  try {
    let failed = 0;
    for (const [i, name] of names.entries()) {
      const [part = '', scenario = ''] = name.split('/');
      const session = await parts[part]!.start({ kubeconfigPath: cluster.kubeconfigPath, client }, scenario);
      const namespace = `run-${i}`;
      await client.create(Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
      print(name);
      const started = performance.now();
      const onMove = (move: { name: string; about: string }): void =>
        print(`  ${seconds(started).padStart(6)}  ${move.name.padEnd(10)}  ${move.about}`);
      const problems = await session
        .run(scenario, namespace, { onMove })
        .catch((error: unknown) => [(error as Error).message]);
      for (const problem of problems) print(`  FAILED  ${problem}`);
      failed += problems.length > 0 ? 1 : 0;
      await session.stop();
    }
    return failed > 0 ? 1 : 0;
  } finally {
    client.close();
    await cluster.stop();
  }
}

/** The images in a scenario's manifests: a real node must have them. */
function imagesOf(name: string): string[] {
  const [part = '', scenario = ''] = name.split('/');
  const dir = path.join(import.meta.dirname, '..', part, 'scenarios', scenario);
  const texts = readdirSync(dir).map((file) => readFileSync(path.join(dir, file), 'utf8'));
  return [
    ...new Set(texts.flatMap((text) => [...text.matchAll(/\bimage: '?([\w./-]+:[\w.-]+)/g)].map((found) => found[1]!))),
  ];
}

function seconds(since: number): string {
  return `${((performance.now() - since) / 1000).toFixed(1)} s`;
}

if (import.meta.main) process.exitCode = await main(process.argv.slice(2), (line) => console.log(line));
