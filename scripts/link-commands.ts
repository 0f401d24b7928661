// Links the commands of the checkout, so that npx can run them at once. npm links only commands of installed packages,
// and npx would first install a copy, which takes half a minute. Called by build.ts.
import { mkdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import path from 'node:path';

export function linkCommands(root: string): void {
  // On Windows, commands are wrapper scripts, which only npm can write.
  if (process.platform === 'win32') return;
  const { bin } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')) as { bin: Record<string, string> };
  const commands = path.join(root, 'node_modules/.bin');
  mkdirSync(commands, { recursive: true });
  for (const [name, file] of Object.entries(bin)) {
    rmSync(path.join(commands, name), { force: true });
    symlinkSync(path.relative(commands, path.join(root, file)), path.join(commands, name));
  }
}
