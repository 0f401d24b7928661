// Commands as they work in the terminal of whoever looks. Pure; the page calls it for every command that it shows.

/** How commands reach this cluster, where a plain `offshoot` and `kubectl` would not. */
export interface Terminal {
  /** How `offshoot` is called: `npx offshoot` in a checkout. */
  readonly offshoot: string;
  /** Flags that choose the cluster: `--context offshoot`. */
  readonly flags: { readonly offshoot: string; readonly kubectl: string };
}

/** A command as it is to be pasted. The first line of a here document takes the flags. */
export function inTerminal(command: string, terminal: Terminal | undefined): string {
  const [, program, rest = '', document = ''] = /^(offshoot|kubectl) ([^\n]*?)( <<.*)?$/s.exec(command) ?? [];
  if (terminal === undefined || program === undefined) return command;
  const flags = terminal.flags[program as keyof Terminal['flags']];
  const own = program === 'offshoot' ? terminal.offshoot : program;
  return `${own} ${rest}${rest.endsWith('--help') ? '' : ` ${flags}`}${document}`;
}
