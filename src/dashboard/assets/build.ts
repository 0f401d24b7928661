// Builds the page: one script and one style sheet, named by their digest and compressed once. scripts/bundle.ts
// replaces assets.ts by the result; a checkout builds the page on the first request.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';

export interface Asset {
  readonly type: string;
  readonly etag: string;
  /** In base64. */
  readonly br: string;
  readonly gzip: string;
}

/** By path; the page itself is `/`. */
export type Assets = Readonly<Record<string, Asset>>;

const page = path.join(import.meta.dirname, '../page');

export interface BuiltPage {
  readonly assets: Assets;
  /** The source files. */
  readonly inputs: readonly string[];
}

/** Builds all files of the page. */
export async function buildPage(): Promise<BuiltPage> {
  // A development dependency: the published package has the built files instead.
  const { build } = await import('esbuild');
  const { outputFiles, metafile } = await build({
    entryPoints: {
      page: path.join(page, 'main.tsx'),
      style: path.join(page, 'page.css'),
      theme: path.join(page, 'theme-first.ts'),
    },
    bundle: true,
    write: false,
    outdir: '/assets',
    format: 'esm',
    target: 'es2023',
    minify: true,
    jsx: 'automatic',
    jsxImportSource: 'preact',
    legalComments: 'none',
    logLevel: 'warning',
    metafile: true,
  });
  const files = outputFiles.map(({ path: file, contents }) => {
    const { name, ext } = path.parse(file);
    const type = ext === '.css' ? 'text/css; charset=utf-8' : 'text/javascript; charset=utf-8';
    return {
      source: `${name}${ext}`,
      url: `/assets/${name}-${digest(contents)}${ext}`,
      asset: assetOf(type, contents),
    };
  });
  const icon = readFileSync(path.join(page, 'icon.svg'));
  const html = files.reduce(
    (text, { source, url }) => text.replaceAll(`{{${source}}}`, url),
    readFileSync(path.join(page, 'index.html'), 'utf8'),
  );
  const assets = {
    '/': assetOf('text/html; charset=utf-8', Buffer.from(html)),
    '/icon.svg': assetOf('image/svg+xml', icon),
    ...Object.fromEntries(files.map(({ url, asset }) => [url, asset])),
  };
  return { assets, inputs: Object.keys(metafile.inputs) };
}

function digest(contents: Uint8Array): string {
  return createHash('sha256').update(contents).digest('hex').slice(0, 12);
}

function assetOf(type: string, contents: Uint8Array): Asset {
  const br = brotliCompressSync(contents, { params: { [constants.BROTLI_PARAM_SIZE_HINT]: contents.length } });
  return {
    type,
    etag: `"${digest(contents)}"`,
    br: br.toString('base64'),
    gzip: gzipSync(contents, { level: 9 }).toString('base64'),
  };
}
