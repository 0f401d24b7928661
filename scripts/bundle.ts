// Bundles programs with all their dependencies, so that starting one reads a few files instead of hundreds. Called by
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

/** A function becomes one that returns the data: what not every start needs is not parsed by every start. */
const constant = (name: string, value: unknown): string => {
  const [data, before] = typeof value === 'function' ? [(value as () => unknown)(), '() => '] : [value, ''];
  return `export const ${name} = ${before}JSON.parse(${JSON.stringify(JSON.stringify(data))});`;
};

let built: Promise<BuiltPage> | undefined;
const page = (): Promise<BuiltPage> => (built ??= buildPage());

/** Modules of plain data: the bundle contains the data instead of the code that generates it. */
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
 * Loads Node's built-in modules without an import statement, which would read all their exports and so load whole
 * subsystems that are never used. Unused names are removed by tree shaking.
 */
const builtins: Plugin = {
  name: 'builtins',
  setup(build) {
    // One module per importer: a shared one would be an additional file to load.
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

/** Packages that take long to load, and that many commands and an idle control plane never use. */
const LAZY = ['@marcbachmann/cel-js', 're2js', 'yaml', 'zod'];

/**
 * Loads these packages from files of their own when they are first used: what is imported from them is a proxy of each
 * of their exports.
 */
const lazyPackages: Plugin = {
  name: 'lazy-packages',
  setup(build) {
    build.onResolve({ filter: new RegExp(`^(${LAZY.join('|')})$`) }, ({ path: name }) => ({
      path: name,
      namespace: 'lazy',
      sideEffects: false,
    }));
    build.onResolve({ filter: /\.cjs$/, namespace: 'lazy' }, ({ path: file }) => ({ path: file, external: true }));
    build.onLoad({ filter: /./, namespace: 'lazy' }, async ({ path: name }) => {
      const names = Object.keys((await import(name)) as object).filter((each) => /^\w+$/.test(each));
      const proxy = `let all;
        const load = (name) => (all ??= require('./${path.basename(name)}.cjs'))[name];
        const lazy = (name) => new Proxy(function () {}, {
          get: (_, key) => load(name)[key],
          apply: (_, self, args) => Reflect.apply(load(name), self, args),
          construct: (_, args) => Reflect.construct(load(name), args),
        });`;
      const lines = names.map((each) => `const $${each} = /* @__PURE__ */ lazy('${each}');`);
      const exported = names.map((each) => `$${each} as ${each}`).join(', ');
      return { contents: [proxy, ...lines, `export { ${exported} };`].join('\n') };
    });
  },
};

/** Omits parts of packages that we never use and that would load much more. */
const leftOut: Plugin = {
  name: 'left-out',
  setup(build) {
    const parts =
      /\/node_modules\/(prom-client\/lib\/(cluster|defaultMetrics|pushgateway)|pino\/lib\/transport|sonic-boom\/index)\.js$/;
    build.onLoad({ filter: parts }, ({ path: file }) => ({
      contents: `module.exports = function () { throw new Error('the bundle is without ${path.relative(root, file)}'); };`,
    }));
    // Messages in other languages.
    build.onLoad({ filter: /\/node_modules\/zod\/v4\/locales\/index\.js$/ }, () => ({
      contents: "export { default as en } from './en.js';",
    }));
  },
};

/** Marks our own modules as free of side effects, so that unused ones are removed. */
const sideEffectFree: Plugin = {
  name: 'side-effect-free',
  setup(build) {
    build.onResolve({ filter: /^\.\.?\/.*\.ts$/ }, ({ path: name, resolveDir }) => ({
      path: path.resolve(resolveDir, name),
      sideEffects: false,
    }));
  },
};

/**
 * Resolves imports from the `index.ts` of a room directly to the modules that define the names. Otherwise a command
 * would load everything that the room exports, because chunks are split by the files that a command reaches.
 */
const directImports: Plugin = {
  name: 'direct-imports',
  setup(build) {
    build.onLoad({ filter: /\/src\/.*\.ts$/ }, ({ path: file }) => {
      const source = readFileSync(file, 'utf8');
      const contents = source.replaceAll(
        /^import \{([^}]*)\} from '([^']*\/index\.ts)';/gm,
        (statement, names: string, index: string) => {
          const homes = exportsOf(path.resolve(path.dirname(file), index));
          const direct = namesIn(names).map((name) => {
            const home = homes.get(name.split(' as ')[0]!);
            return home && `import { ${name} } from ${JSON.stringify(home)};`;
          });
          // On one line, so that line numbers do not change.
          return direct.includes(undefined) ? statement : direct.join(' ') + '\n'.repeat(names.split('\n').length - 1);
        },
      );
      return { contents, loader: 'ts' };
    });
  },
};

/** The exported names of a file, with the modules that define them. */
function exportsOf(index: string): ReadonlyMap<string, string> {
  const source = readFileSync(index, 'utf8');
  const homeOf = (from: string): string => path.resolve(path.dirname(index), from);
  const homes = new Map<string, string>();
  for (const [, name = ''] of source.matchAll(/^export (?:async )?(?:function|const|class) (\w+)/gm))
    homes.set(name, index);
  for (const [, from = ''] of source.matchAll(/^export \* from '([^']*)';/gm)) {
    for (const [name, home] of exportsOf(homeOf(from))) homes.set(name, home);
  }
  for (const [, names = '', from = ''] of source.matchAll(/^export \{([^}]*)\} from '([^']*)';/gm)) {
    // Renamed exports are left to the bundler.
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
 * The cluster has a separate bundle: with a shared one, it would have to load more chunks. That bundle also contains
 * the whole command line, so an import of the cluster inside it resolves to itself.
 */
const separateCluster: Plugin = {
  name: 'separate-cluster',
  setup(build) {
    build.onResolve({ filter: /\/cluster\.ts$/ }, ({ kind, path: name, resolveDir }) =>
      kind === 'dynamic-import' && path.resolve(resolveDir, name) === path.join(root, 'src/cli/up/cluster.ts')
        ? { path: './up.js', external: true }
        : undefined,
    );
  },
};

/** How programs are bundled. */
export const BUNDLING: BuildOptions = {
  absWorkingDir: root,
  bundle: true,
  format: 'esm',
  platform: 'node',
  target: 'node24',
  sourcemap: true,
  sourcesContent: false,
  minifyWhitespace: true,
  minifySyntax: true,
  legalComments: 'none',
  logLevel: 'warning',
  plugins: [separateCluster, sideEffectFree, builtins, evaluated, leftOut, directImports],
  // CommonJS packages load Node's built-in modules with `require`.
  banner: { js: "import{createRequire as $require}from'node:module';const require=$require(import.meta.url);" },
};

/**
 * Writes the bundle of the command line and of the given entries, and the data that they read at run time. Returns its
 * source files.
 */
export async function bundle(outdir: string, entries: Readonly<Record<string, string>> = {}): Promise<string[]> {
  const shared = { ...BUNDLING, outdir, metafile: true };
  const split = { ...shared, splitting: true, plugins: [lazyPackages, ...BUNDLING.plugins!] };
  const lazy = Object.fromEntries(LAZY.map((name) => [path.basename(name), name]));
  const built = await Promise.all([
    esbuild.build({ ...split, entryPoints: { cli: 'src/cli/main.ts' } }),
    esbuild.build({ ...split, entryPoints: { up: 'src/cli/up/main.ts' } }),
    // The entries are a library, which others bundle: theirs can't find a file that is loaded later. Their lines are
    // short, because Node prints the whole line that threw an uncaught error.
    esbuild.build({ ...shared, splitting: true, entryPoints: entries, minifyWhitespace: false }),
    esbuild.build({ ...shared, entryPoints: lazy, format: 'cjs', outExtension: { '.js': '.cjs' }, banner: {} }),
  ]);
  // Data that is read at run time is in the same folder as the code, in the bundle as in the sources.
  for (const file of ['kinds/openapi.json', 'kinds/descriptions.json', 'protobuf/messages.json']) {
    copyFileSync(path.join(root, 'src/embedded', file), path.join(outdir, path.basename(file)));
  }
  const inputs = built.flatMap(({ metafile }) => Object.keys(metafile!.inputs));
  return [...inputs.filter((input) => !/^(builtin|lazy):/.test(input)), ...(await page()).inputs];
}
