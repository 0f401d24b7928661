// The mesh fixture: a suite written with `describeMeshes` runs on a mesh on every cluster that this machine has.
//   OFFSHOOT_REAL_MESH=require  fail, rather than skip, if the mesh is missing
import { afterAll, afterEach, beforeAll } from 'vitest';
import { clusterRequirement, ownDrivers, start } from '../cluster/index.ts';
import type { Driver, Started } from '../cluster/index.ts';
import { describeRequiring } from '../support/requirements.ts';
import type { Requirement } from '../support/requirements.ts';
import { missingMesh, startMesh } from './mesh.ts';
import type { Mesh, MeshOptions } from './mesh.ts';

export interface MeshSuite extends Pick<MeshOptions, 'ports' | 'debounce' | 'endpointLagMs'> {
  /** Both by default. */
  readonly clusters?: readonly Driver['name'][];
}

/** The mesh as tests see it. */
export interface MeshHandle {
  readonly cluster: Driver['name'];
  /** Set in tests and hooks only, like the mesh. */
  readonly kubeconfigPath: string;
  /** Set in tests and hooks only. */
  readonly mesh: Mesh;
}

/** Runs a suite on a mesh on every cluster. If a test fails, the logs of the mesh are kept. */
export function describeMeshes(name: string, suite: MeshSuite, define: (handle: MeshHandle) => void): void {
  for (const driver of ownDrivers.filter((each) => suite.clusters?.includes(each.name) ?? true)) {
    describeRequiring(`${name} (${driver.name})`, [meshRequirement(), clusterRequirement(driver)], () => {
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

export function meshRequirement(): Requirement {
  return { what: 'mesh', missing: missingMesh(), variable: 'OFFSHOOT_REAL_MESH' };
}
