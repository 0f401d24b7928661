// The version of this package, in a checkout and in a bundle.
import { readFileSync } from 'node:fs';

/** The version in package.json, which is one folder above the bundle and three above this file. */
export function version(): string {
  for (const relative of ['../../../package.json', '../package.json']) {
    try {
      const manifest = JSON.parse(readFileSync(new URL(relative, import.meta.url), 'utf8')) as Record<string, unknown>;
      if (manifest['name'] === 'offshoot') return String(manifest['version']);
    } catch {
      // Try the other path.
    }
  }
  return 'unknown';
}
