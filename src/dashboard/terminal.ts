// Adapts commands to the user's terminal. Pure; the page calls it for every command that it shows.

/** How commands reach this cluster, if plain `offshoot` and `kubectl` would not. */
export interface Terminal {
  /** How `offshoot` is called: `npx offshoot` in a checkout. */
  readonly offshoot: string;
  /** Flags that choose the cluster: `--context offshoot`. */
  readonly flags: { readonly offshoot: string; readonly kubectl: string };
}

/** A command to paste. With a here document, the flags go on the first line. */
export function inTerminal(command: string, terminal: Terminal | undefined): string {
  const [, program, rest = '', document = ''] = /^(offshoot|kubectl) ([^\n]*?)( <<.*)?$/s.exec(command) ?? [];
  if (terminal === undefined || program === undefined) return command;
  const flags = terminal.flags[program as keyof Terminal['flags']];
  const own = program === 'offshoot' ? terminal.offshoot : program;
  return `${own} ${rest}${rest.endsWith('--help') ? '' : ` ${flags}`}${document}`;
}
