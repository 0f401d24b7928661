// Runs the real node of the tests manually:
//   npm run real-node -- fetch           find its programs, or build and download them once
//   npm run real-node -- path            print their folders (fails when they are missing)
//   npm run real-node -- up [--mesh]     start a node in the background, with Istio and sidecar injection for --mesh
//   npm run real-node -- in COMMAND …    run a command inside the node; kubectl is configured there
//   npm run real-node -- down            stop the node and delete its files
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { enterCommand, innerKubeconfig, killNode, startRealNode } from '../test/node/node.ts';
import { nodePrograms } from '../test/node/programs.ts';
import { kubernetes } from '../test/programs/kubernetes.ts';
import { cacheFolder, programsOf } from '../test/programs/programs.ts';
import { programCommands, runSubcommand } from './subcommand.ts';

/** Contains the folder of the running node. */
const stateFile = path.join(cacheFolder('node'), 'running');

function running(): string | undefined {
  const dir = existsSync(stateFile) ? readFileSync(stateFile, 'utf8') : '';
  return existsSync(path.join(dir, 'started')) ? dir : undefined;
}

function needRunning(): string {
  const dir = running();
  if (dir === undefined) throw new Error('no node runs: start one with `npm run real-node -- up`');
  return dir;
}

await runSubcommand('real-node', {
  ...programCommands(nodePrograms),

  async up(args) {
    if (running() !== undefined) throw new Error('a node runs already: end it with `npm run real-node -- down`');
    const log = (line: string): void => void process.stderr.write(`${line}\n`);
    const mesh = args.includes('--mesh');
    const { dir } = await startRealNode({ mesh, offshoot: true, detached: true, log });
    mkdirSync(path.dirname(stateFile), { recursive: true });
    writeFileSync(stateFile, dir);
    console.log(`npm run --silent real-node -- in kubectl get pods -A\nlogs: ${dir}/*.log\nnpm run real-node -- down`);
  },

  async in(args) {
    const dir = needRunning();
    const [enter = '', ...rest] = [...enterCommand(dir), ...args];
    const env = {
      ...process.env,
      KUBECONFIG: innerKubeconfig(dir),
      PATH: `${programsOf(kubernetes)}:${process.env['PATH']}`,
    };
    process.exitCode = spawnSync(enter, rest, { stdio: 'inherit', env }).status ?? 1;
  },

  async down() {
    const dir = needRunning();
    killNode(dir);
    for (const deadline = Date.now() + 20_000; existsSync(dir); await delay(50))
      if (Date.now() > deadline) throw new Error(`the node ended, but ${dir} is still there`);
    rmSync(stateFile);
  },
});
