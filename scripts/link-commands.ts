// Lets npx run a checkout at once: npm links the commands of packages that are installed, not those of the checkout
// itself, and npx would install a copy first, which takes half a minute. Called by build.ts.
import { mkdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import path from 'node:path';

export function linkCommands(root: string): void {
  // There a command is a script around it, which only npm writes.
  if (process.platform === 'win32') return;
  const { bin } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')) as { bin: Record<string, string> };
  const commands = path.join(root, 'node_modules/.bin');
  mkdirSync(commands, { recursive: true });
  for (const [name, file] of Object.entries(bin)) {
    rmSync(path.join(commands, name), { force: true });
    symlinkSync(path.relative(commands, path.join(root, file)), path.join(commands, name));
  }
}
