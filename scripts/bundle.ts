// Bundles programs with everything that they need, so that starting one reads a few files and not hundreds. Called by
// build.ts for the published package, and by benchmarks.
import { copyFileSync, readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import path from 'node:path';
import * as esbuild from 'esbuild';
import type { BuildOptions, Plugin } from 'esbuild';
import * as chartData from '../src/cli/install/chart-data.ts';
import * as definitions from '../src/cli/run/definitions.ts';
import { makeSeed } from '../src/cli/up/seed.ts';
import { buildPage } from '../src/dashboard/assets/build.ts';
import type { BuiltPage } from '../src/dashboard/assets/build.ts';

const root = path.resolve(import.meta.dirname, '..');

const constant = (name: string, value: unknown): string =>
  `export const ${name} = JSON.parse(${JSON.stringify(JSON.stringify(value))});`;

let built: Promise<BuiltPage> | undefined;
const page = (): Promise<BuiltPage> => (built ??= buildPage());

/** Modules of plain data: the bundle holds the data, not the code that makes it. */
const evaluated: Plugin = {
  name: 'evaluated',
  setup(build) {
    const modules = { 'run/definitions': definitions, 'install/chart-data': chartData };
    for (const [file, exported] of Object.entries(modules)) {
      build.onLoad({ filter: new RegExp(`/src/cli/${file}\\.ts$`) }, () => ({
        contents: Object.entries(exported)
          .map(([name, value]) => constant(name, value))
          .join('\n'),
      }));
    }
    build.onLoad({ filter: /\/src\/cli\/up\/seed\.ts$/ }, async () => ({
      contents: `export const seed = ${JSON.stringify(await makeSeed())};`,
    }));
    build.onLoad({ filter: /\/src\/dashboard\/assets\/assets\.ts$/ }, async () => ({
      contents: `${constant('assets', (await page()).assets)}\nexport const loadAssets = async () => assets;`,
    }));
  },
};

/**
 * Node's own modules, taken without an import statement: that reads every name which they export, and some names load
 * whole subsystems that nobody uses. Names that nobody imports are dropped from what stands here.
 */
const builtins: Plugin = {
  name: 'builtins',
  setup(build) {
    // One for each importer: a shared one would be a file of its own to load.
    build.onResolve({ filter: /./ }, ({ path: name, kind, importer }) =>
      kind === 'import-statement' && isBuiltin(name)
        ? { path: `${name} of ${importer}`, namespace: 'builtin', pluginData: name }
        : undefined,
    );
    build.onLoad({ filter: /./, namespace: 'builtin' }, ({ pluginData }) => {
      const name = pluginData as string;
      const names = Object.keys(process.getBuiltinModule(name) as object).filter((each) => /^\w+$/.test(each));
      const lines = names.map((each) => `export const ${each} = /* @__PURE__ */ take('${each}');`);
      const all = `const all = process.getBuiltinModule('${name}');\nconst take = (name) => all[name];`;
      return { contents: [all, 'export default all;', ...lines].join('\n') };
    });
  },
};

/** Parts of packages that we never use, and that would load much more. */
const leftOut: Plugin = {
  name: 'left-out',
  setup(build) {
    const parts =
      /\/node_modules\/(prom-client\/lib\/(cluster|defaultMetrics|pushgateway)|pino\/lib\/transport|sonic-boom\/index)\.js$/;
    build.onLoad({ filter: parts }, ({ path: file }) => ({
      contents: `module.exports = function () { throw new Error('the bundle is without ${path.relative(root, file)}'); };`,
    }));
  },
};

/** Our own modules do nothing when they are loaded: one that is reached but not used is left out. */
const quiet: Plugin = {
  name: 'quiet',
  setup(build) {
    build.onResolve({ filter: /^\.\.?\/.*\.ts$/ }, ({ path: name, resolveDir }) => ({
      path: path.resolve(resolveDir, name),
      sideEffects: false,
    }));
  },
};

/**
 * Imports through the `index.ts` of a room, led straight to the modules that they name: a file that a command loads
 * would otherwise load all that the room exports, for pieces are cut by which files a command reaches.
 */
const straight: Plugin = {
  name: 'straight',
  setup(build) {
    build.onLoad({ filter: /\/src\/.*\.ts$/ }, ({ path: file }) => {
      const source = readFileSync(file, 'utf8');
      const contents = source.replaceAll(
        /^import \{([^}]*)\} from '([^']*\/index\.ts)';/gm,
        (statement, names: string, door: string) => {
          const homes = exportsOf(path.resolve(path.dirname(file), door));
          const direct = namesIn(names).map((name) => {
            const home = homes.get(name.split(' as ')[0]!);
            return home && `import { ${name} } from ${JSON.stringify(home)};`;
          });
          // On one line, so that lines of the source stay where they are.
          return direct.includes(undefined) ? statement : direct.join(' ') + '\n'.repeat(names.split('\n').length - 1);
        },
      );
      return { contents, loader: 'ts' };
    });
  },
};

/** The modules that what a file exports comes from, by name. */
function exportsOf(door: string): ReadonlyMap<string, string> {
  const source = readFileSync(door, 'utf8');
  const homeOf = (from: string): string => path.resolve(path.dirname(door), from);
  const homes = new Map<string, string>();
  for (const [, name = ''] of source.matchAll(/^export (?:async )?(?:function|const|class) (\w+)/gm))
    homes.set(name, door);
  for (const [, from = ''] of source.matchAll(/^export \* from '([^']*)';/gm)) {
    for (const [name, home] of exportsOf(homeOf(from))) homes.set(name, home);
  }
  for (const [, names = '', from = ''] of source.matchAll(/^export \{([^}]*)\} from '([^']*)';/gm)) {
    // One under another name is left to the bundler.
    for (const name of namesIn(names)) if (!name.includes(' as ')) homes.set(name, homeOf(from));
  }
  return homes;
}

function namesIn(list: string): string[] {
  return list
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
}

/**
 * The cluster has a bundle of its own: in a shared one, every file that any command reads would be one more to load. It
 * is also a whole command line, and so one of its parts finds itself when it asks for the cluster.
 */
const apart: Plugin = {
  name: 'apart',
  setup(build) {
    build.onResolve({ filter: /\/cluster\.ts$/ }, ({ kind, path: name, resolveDir }) =>
      kind === 'dynamic-import' && path.resolve(resolveDir, name) === path.join(root, 'src/cli/up/cluster.ts')
        ? { path: './up.js', external: true }
        : undefined,
    );
  },
};

/**
 * Writes the bundle of the command line and of the given entries, and the data that they read at run time. Returns the
 * files that it was made from.
 */
export async function bundle(outdir: string, entries: Readonly<Record<string, string>> = {}): Promise<string[]> {
  const shared: BuildOptions = {
    absWorkingDir: root,
    outdir,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node24',
    sourcemap: true,
    sourcesContent: false,
    minifyWhitespace: true,
    minifySyntax: true,
    legalComments: 'none',
    logLevel: 'warning',
    metafile: true,
    plugins: [apart, quiet, builtins, evaluated, leftOut, straight],
    // Packages in the older module format ask for Node's own modules by this name.
    banner: { js: "import{createRequire as $require}from'node:module';const require=$require(import.meta.url);" },
  };
  const built = await Promise.all([
    esbuild.build({ ...shared, entryPoints: { cli: 'src/cli/main.ts', ...entries } }),
    esbuild.build({ ...shared, entryPoints: { up: 'src/cli/up/main.ts' } }),
  ]);
  // Data that is read at run time stands beside the code that reads it, in the bundle as in the sources.
  for (const file of ['kinds/openapi.json', 'kinds/descriptions.json', 'protobuf/messages.json']) {
    copyFileSync(path.join(root, 'src/embedded', file), path.join(outdir, path.basename(file)));
  }
  const inputs = built.flatMap(({ metafile }) => Object.keys(metafile!.inputs));
  return [...inputs.filter((input) => !input.startsWith('builtin:')), ...(await page()).inputs];
}
