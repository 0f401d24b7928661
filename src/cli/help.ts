// Fits help to the terminal: long flags get their own line, and the text below the flags is wrapped too.
import { Help } from 'commander';
import type { Command } from 'commander';

const DEFAULT_WIDTH = 80;
const MIN_WIDTH = 40;

/** Fits the help of a command and its subcommands to the terminal. */
export function fitHelp(command: Command): Command {
  const width = helpWidth(process.stdout.columns, process.env['COLUMNS']);
  const defaults = Object.assign(new Help(), { helpWidth: width, minWidthToWrap: 15 });
  command.configureHelp({
    helpWidth: defaults.helpWidth,
    minWidthToWrap: defaults.minWidthToWrap,
    // Longer flags would leave no room for the description.
    padWidth: (each, help) => Math.min(defaults.padWidth(each, help), Math.floor(width * 0.35)),
    formatItem: (term, termWidth, description, help) => {
      const item = (name: string): string => defaults.formatItem(name, termWidth, description, help).trimEnd();
      return description !== '' && help.displayWidth(term) > termWidth ? `  ${term}\n${item('')}` : item(term);
    },
  });
  command.configureOutput({
    getOutHelpWidth: () => width,
    writeOut: (text) => void process.stdout.write(wrapText(text, width)),
  });
  command.commands.forEach((each) => fitHelp(each));
  return command;
}

/** The width of help: that of the terminal, or of the variable COLUMNS if the output is piped. */
export function helpWidth(columns: number | undefined, columnsVariable: string | undefined): number {
  return Math.max(MIN_WIDTH, columns ?? (Number(columnsVariable) || DEFAULT_WIDTH));
}

/** Wraps text: paragraphs are joined, commands continue after a backslash, other lines get a hanging indent. */
export function wrapText(text: string, width: number): string {
  const lines = text.split('\n');
  const wrapped: string[] = [];
  for (let i = 0; i < lines.length; i++) {
    let line = lines[i]!;
    if (line.length <= width) {
      wrapped.push(line);
      continue;
    }
    // Only prose starts at column 0.
    while (/^\S/.test(line) && /^\S/.test(lines[i + 1] ?? '')) line += ` ${lines[++i]!}`;
    wrapped.push(...wrapLine(line, width));
  }
  return wrapped.join('\n');
}

function wrapLine(line: string, width: number): string[] {
  const indent = /^ */.exec(line)![0];
  const isCommand = /^ +(\w+ build|offshoot|kubectl) .*/.test(line);
  const hanging = isCommand ? `${indent}    ` : ' '.repeat(/^( *\S+ {2,}| *)/.exec(line)![0].length);
  const room = width - (isCommand ? ' \\'.length : 0);
  const lines: string[] = [];
  let current = indent;
  // Quoted text is not split.
  for (const [word] of line.slice(indent.length).matchAll(/(?:"[^"]*"|'[^']*'|\S)+ */g)) {
    if (current.trim() !== '' && (current + word).trimEnd().length > room) {
      lines.push(isCommand ? `${current.trimEnd()} \\` : current.trimEnd());
      current = hanging;
    }
    current += word;
  }
  return [...lines, current.trimEnd()];
}
