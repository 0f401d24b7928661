// Golden files: the output of a test must equal a reviewed file.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';

/**
 * The expected text, from a golden file. With `update`, which is on when UPDATE_GOLDEN is set, the actual text is
 * written there first: review the difference before you commit it.
 */
export function goldenOf(text: string, file: string, update = Boolean(process.env['UPDATE_GOLDEN'])): string {
  if (update) writeFileSync(file, text);
  if (!existsSync(file)) throw new Error(`${file} is missing: write it with UPDATE_GOLDEN=1, then read it`);
  return readFileSync(file, 'utf8');
}
