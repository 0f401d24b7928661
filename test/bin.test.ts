// Which code the command runs: the bundle, as long as it is up to date with the sources. Also its message on an old
// Node, and the files of the package.
import { execFileSync, spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';

let dir = '';
beforeEach(() => {
  dir = mkdtempSync(path.join(tmpdir(), 'offshoot-bin-'));
  write('package.json', '{"type":"module"}');
  write('dist/cli.js', "export const main = () => console.log('bundle');");
  mkdirSync(path.join(dir, 'bin'));
  copyFileSync(path.resolve(import.meta.dirname, '../bin/offshoot.js'), path.join(dir, 'bin/offshoot.js'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

function write(file: string, text: string): void {
  mkdirSync(path.dirname(path.join(dir, file)), { recursive: true });
  writeFileSync(path.join(dir, file), text);
}

function checkout(): void {
  write('src/cli/main.ts', "export const main = (): void => console.log('sources');");
  write('src/cli/other.ts', 'export const other = 1;');
  const states = ['src/cli/main.ts', 'src/cli/other.ts'].map((file) => {
    const { size, mtimeMs } = statSync(path.join(dir, file));
    return [file, `${size} ${mtimeMs}`];
  });
  write('dist/sources.json', JSON.stringify(Object.fromEntries(states)));
}

function run(): string {
  const env = { ...process.env, XDG_CACHE_HOME: path.join(dir, 'cache') };
  return execFileSync(process.execPath, [path.join(dir, 'bin/offshoot.js')], { encoding: 'utf8', env }).trim();
}

test('a published package runs the bundle', () => {
  expect(run()).toBe('bundle');
});

test('in a checkout, the bundle is used until a source changes', () => {
  checkout();
  expect(run()).toBe('bundle');
  // The same size, and an earlier time than recorded: as after unpacking an older copy.
  utimesSync(path.join(dir, 'src/cli/other.ts'), 1000, 1000);
  expect(run()).toBe('sources');
});

test('the bundle is not used if a source was deleted, and the sources run without a bundle', () => {
  checkout();
  rmSync(path.join(dir, 'src/cli/other.ts'));
  expect(run()).toBe('sources');
  rmSync(path.join(dir, 'dist'), { recursive: true });
  expect(run()).toBe('sources');
});

const VERSION_MESSAGE = /^error: offshoot needs Node 24\.11 or newer, and this is Node \d+\.\d+\.\d+: .*\n$/;

/** Starts the command with a given program and arguments before it. */
function started(node: string, ...before: string[]): { code: number | null; stdout: string; stderr: string } {
  const env = { ...process.env, NODE_OPTIONS: '' };
  const { status, stdout, stderr } = spawnSync(node, [...before, path.join(dir, 'bin/offshoot.js'), '--version'], {
    encoding: 'utf8',
    env,
  });
  return { code: status, stdout, stderr };
}

test('an older Node prints one line that says which version is needed', () => {
  // Simulates Node 18: later functions are missing, also where they would be imported.
  const older = `
    import { registerHooks } from 'node:module';
    registerHooks({ resolve: (name, context, next) =>
      name === 'node:module' ? { url: 'data:text/javascript,export default {}', shortCircuit: true } : next(name, context) });
    Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '18.20.8' } });
    delete process.getBuiltinModule;`;
  const preloaded = `data:text/javascript,${encodeURIComponent(older)}`;
  const ran = started(process.execPath, '--import', preloaded);
  expect(ran).toEqual({ code: 1, stdout: '', stderr: expect.stringMatching(VERSION_MESSAGE) });
});

const others = (process.env['PATH'] ?? '')
  .split(path.delimiter)
  .map((folder) => path.join(folder, 'node'))
  .filter((file) => existsSync(file) && Number.parseInt(versionOf(file).slice(1), 10) < 24);

test.runIf(others.length > 0)('an older Node that is installed here prints the same line', () => {
  for (const node of others) {
    expect(started(node)).toEqual({ code: 1, stdout: '', stderr: expect.stringMatching(VERSION_MESSAGE) });
  }
});

function versionOf(node: string): string {
  return spawnSync(node, ['--version'], { encoding: 'utf8' }).stdout;
}

test('the package contains the examples that the guides apply', () => {
  const root = path.resolve(import.meta.dirname, '..');
  const [packed] = JSON.parse(
    execFileSync('npm', ['pack', '--dry-run', '--ignore-scripts', '--json'], {
      cwd: root,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }),
  ) as [{ files: { path: string }[] }];
  const files = packed.files.map((file) => file.path);
  for (const name of ['shop.yaml', 'dynamicenv.yaml', 'classes.yaml', 'claim.yaml', 'controller.ts']) {
    expect(files).toContain(`examples/${name}`);
  }
});
