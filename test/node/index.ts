// The node fixture: suites written with `describeNode` share one real node with a mesh, which ends with the test run.
//   OFFSHOOT_REAL_NODE=require  fail, rather than skip, if the real node is missing
import { afterAll, afterEach, beforeAll, describe } from 'vitest';
import { startRealNode } from './node.ts';
import type { RealNode, RealNodeOptions } from './node.ts';
import { nodeMissing } from './programs.ts';

let shared: Promise<RealNode> | undefined;

/** Starts the node for the first suite: all suites run in one worker. */
function sharedNode(): Promise<RealNode> {
  const web = [1, 2, 3].map((version) => `orders:${version}`);
  shared ??= startRealNode({ mesh: true, offshoot: true, web, log });
  return shared;
}

/** Runs a suite on the real node, which is set in tests and hooks only. After a failure its logs are kept. */
export function describeNode(name: string, define: (node: () => RealNode) => void): void {
  describeOn(name, sharedNode, async () => undefined, define);
}

/** Like `describeNode`, on a node that no other suite uses. */
export function describeOwnNode(name: string, options: RealNodeOptions, define: (node: () => RealNode) => void): void {
  describeOn(
    name,
    () => startRealNode({ log, ...options }),
    (node) => node.stop(),
    define,
  );
}

function describeOn(
  name: string,
  start: () => Promise<RealNode>,
  end: (node: RealNode) => Promise<void>,
  define: (node: () => RealNode) => void,
): void {
  const missing = nodeMissing({ mesh: true });
  if (missing !== undefined && process.env['OFFSHOOT_REAL_NODE'] === 'require') throw new Error(missing);
  if (missing !== undefined) process.stderr.write(`real node skipped: ${missing}\n`);
  const why = missing === undefined ? '' : ` skipped: ${missing}`;
  describe.skipIf(missing !== undefined)(`${name}${why}`, () => {
    let node: RealNode | undefined;
    beforeAll(async () => {
      node = await start();
    }, 300_000);
    afterAll(async () => {
      if (node !== undefined) await end(node);
    }, 60_000);
    afterEach(({ task }) => {
      if (task.result?.state === 'fail') process.stderr.write(`logs of the real node: ${node?.keepLogs()}\n`);
    });
    define(() => {
      if (node === undefined) throw new Error('no node here: use it inside of tests and hooks only');
      return node;
    });
  });
}

function log(line: string): void {
  process.stderr.write(`real node: ${line}\n`);
}
