// Golden files: what a test worked out must be what a file says that somebody has read.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';

/**
 * What a file says that a text should be. With `update`, which is on when UPDATE_GOLDEN is set, the text is written
 * there first: read the difference before you commit it.
 */
export function goldenOf(text: string, file: string, update = Boolean(process.env['UPDATE_GOLDEN'])): string {
  if (update) writeFileSync(file, text);
  if (!existsSync(file)) throw new Error(`${file} is missing: write it with UPDATE_GOLDEN=1, then read it`);
  return readFileSync(file, 'utf8');
}
