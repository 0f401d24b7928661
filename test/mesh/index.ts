// The mesh fixture: a suite written with `describeMeshes` runs on a mesh over every cluster that this machine can offer.
//   OFFSHOOT_REAL_MESH=require  a missing mesh is a failure, not a skip
import { afterAll, afterEach, beforeAll } from 'vitest';
import { clusterNeed, ownDrivers, start } from '../cluster/index.ts';
import type { Driver, Started } from '../cluster/index.ts';
import { describeNeeding } from '../support/needs.ts';
import type { Need } from '../support/needs.ts';
import { missingMesh, startMesh } from './mesh.ts';
import type { Mesh, MeshOptions } from './mesh.ts';

export interface MeshSuite extends Pick<MeshOptions, 'ports' | 'debounce' | 'endpointLagMs'> {
  /** Both by default. */
  readonly clusters?: readonly Driver['name'][];
}

/** What a test has of its mesh. */
export interface MeshHandle {
  readonly cluster: Driver['name'];
  /** Inside of tests and hooks only, like the mesh. */
  readonly kubeconfigPath: string;
  /** Inside of tests and hooks only. */
  readonly mesh: Mesh;
}

/** Runs a suite on a mesh over every cluster. Where a test fails, the logs of the mesh are kept. */
export function describeMeshes(name: string, suite: MeshSuite, define: (handle: MeshHandle) => void): void {
  for (const driver of ownDrivers.filter((each) => suite.clusters?.includes(each.name) ?? true)) {
    describeNeeding(`${name} (${driver.name})`, [meshNeed(), clusterNeed(driver)], () => {
      let cluster: Started | undefined;
      let mesh: Mesh | undefined;
      let failed = false;
      beforeAll(async () => {
        cluster = await start(driver);
        mesh = await startMesh({ ...suite, ...cluster });
      });
      afterEach(({ task }) => {
        failed ||= task.result?.state === 'fail';
      });
      afterAll(async () => {
        if (failed && mesh !== undefined) process.stderr.write(`the logs of the mesh are in ${mesh.keepLogs()}\n`);
        await mesh?.stop();
        await cluster?.stop();
      });
      define({
        cluster: driver.name,
        get kubeconfigPath() {
          if (cluster === undefined) throw new Error('no cluster here: use it inside of tests and hooks only');
          return cluster.kubeconfigPath;
        },
        get mesh() {
          if (mesh === undefined) throw new Error('no mesh here: use it inside of tests and hooks only');
          return mesh;
        },
      });
    });
  }
}

/** What a suite on a mesh needs. */
export function meshNeed(): Need {
  return { what: 'mesh', missing: missingMesh(), variable: 'OFFSHOOT_REAL_MESH' };
}
