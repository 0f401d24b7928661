// The version of this package, in a checkout as in a bundle.
import { readFileSync } from 'node:fs';

/** As in package.json, which stands one folder above the bundle and three above this file. */
export function version(): string {
  for (const relative of ['../../../package.json', '../package.json']) {
    try {
      const manifest = JSON.parse(readFileSync(new URL(relative, import.meta.url), 'utf8')) as Record<string, unknown>;
      if (manifest['name'] === 'offshoot') return String(manifest['version']);
    } catch {
      // Not in this place: the other one has it.
    }
  }
  return 'unknown';
}
