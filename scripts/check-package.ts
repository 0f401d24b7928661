// Tests the package as installed: packs it, unpacks it elsewhere, runs the command and imports the libraries. Run by
// .ci/run, after a build.
import assert from 'node:assert/strict';
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { build } from 'esbuild';
import { unpackPackage } from './unpack-package.ts';

const dir = mkdtempSync(path.join(tmpdir(), 'offshoot-package-'));
try {
  const { folder: unpacked, size } = unpackPackage(dir);

  const bin = path.join(unpacked, 'bin/offshoot.js');
  assert.match(execFileSync(process.execPath, [bin, '--version'], { encoding: 'utf8' }), /^\d+\.\d+\.\d+\n$/);
  assert.match(execFileSync(process.execPath, [bin, '--help'], { encoding: 'utf8' }), /Usage: offshoot/);
  assert.match(
    execFileSync(process.execPath, [bin, 'crds'], { encoding: 'utf8' }),
    /^kind: CustomResourceDefinition$/m,
  );
  const example = path.join(unpacked, 'examples/dynamicenv.yaml');
  assert.match(
    execFileSync(process.execPath, [bin, 'env', 'validate', '-f', example], { encoding: 'utf8' }),
    / is valid\n$/,
  );

  for (const [entry, name] of Object.entries({
    watchable: 'WatchableMap',
    kube: 'connect',
    controller: 'Manager',
    embedded: 'startEmbedded',
  })) {
    const program = `import { ${name} } from 'offshoot/${entry}'; if (typeof ${name} !== 'function') process.exit(1);`;
    execFileSync(process.execPath, ['--input-type=module', '-e', program], { cwd: unpacked });
  }

  // Node prints the line of an uncaught error, which must be readable.
  const failing = spawnSync(
    process.execPath,
    ['--input-type=module', '-e', "import { connect } from 'offshoot/kube'; await connect({ server: 'nowhere' });"],
    { cwd: unpacked, encoding: 'utf8' },
  );
  assert.match(failing.stderr, /^Error: server must be an http or https URL, found 'nowhere'$/m);
  assert.ok(Math.max(...failing.stderr.split('\n').map(({ length }) => length)) < 250, failing.stderr);

  // Somebody's program, bundled with the library: it has no other file of ours.
  const written = `import { loadConfig } from 'offshoot/kube';
    import { Manager } from 'offshoot/controller';
    const path = process.argv[2];
    if (typeof Manager !== 'function' || loadConfig({ path }).server !== 'https://here') process.exit(1);`;
  const outfile = path.join(dir, 'bundled.mjs');
  const stdin = { contents: written, resolveDir: unpacked };
  await build({ stdin, bundle: true, platform: 'node', format: 'esm', logLevel: 'warning', outfile });
  const kubeconfig = path.join(dir, 'kubeconfig');
  writeFileSync(
    kubeconfig,
    `current-context: a
contexts: [{ name: a, context: { cluster: b, user: c } }]
clusters: [{ name: b, cluster: { server: 'https://here' } }]
users: [{ name: c, user: { token: d } }]
`,
  );
  execFileSync(process.execPath, [outfile, kubeconfig]);

  const up = spawn(process.execPath, [bin, 'up', '--memory', '--port', '0', '-o', 'json'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = (await once(createInterface({ input: up.stdout }), 'line')) as [string];
  assert.match((JSON.parse(line) as { api: string }).api, /^https:\/\/127\.0\.0\.1:\d+$/);
  up.kill('SIGTERM');
  const [code] = (await once(up, 'exit')) as [number | null];
  assert.equal(code, 0);
  console.log(`the package works as installed (${Math.round(size / 1024)} KB packed)`);
} finally {
  rmSync(dir, { recursive: true, force: true });
}
