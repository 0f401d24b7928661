// Programs that a test writes and runs.
import { execFileSync } from 'node:child_process';

/**
 * Writes a program. Another process does it: a child that another thread starts meanwhile would inherit our open file,
 * and a program that is open for writing cannot be started (ETXTBSY).
 */
export function writeProgram(file: string, content: string | Buffer): void {
  execFileSync('sh', ['-c', 'cat > "$0" && chmod 755 "$0"', file], { input: content });
}
