// Help that fits the terminal: long flags get a line of their own, and what we write below the flags is wrapped too.
import { Help } from 'commander';
import type { Command } from 'commander';

const USUAL_WIDTH = 80;
const LEAST_WIDTH = 40;

/** Fits the help of a command and of all below it to the terminal. */
export function fitHelp(command: Command): Command {
  const width = helpWidth(process.stdout.columns, process.env['COLUMNS']);
  const usual = Object.assign(new Help(), { helpWidth: width, minWidthToWrap: 15 });
  command.configureHelp({
    helpWidth: usual.helpWidth,
    minWidthToWrap: usual.minWidthToWrap,
    // Flags that are longer than this would leave no room for what they mean.
    padWidth: (each, help) => Math.min(usual.padWidth(each, help), Math.floor(width * 0.35)),
    formatItem: (term, termWidth, description, help) => {
      const item = (name: string): string => usual.formatItem(name, termWidth, description, help).trimEnd();
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

/** How wide help may be: as the terminal, or as somebody says who pipes it elsewhere. */
export function helpWidth(columns: number | undefined, said: string | undefined): number {
  return Math.max(LEAST_WIDTH, columns ?? (Number(said) || USUAL_WIDTH));
}

/** A text whose lines are at most so wide: paragraphs flow, commands go on after a backslash, the rest is indented. */
export function wrapText(text: string, width: number): string {
  const lines = text.split('\n');
  const wrapped: string[] = [];
  for (let i = 0; i < lines.length; i++) {
    let line = lines[i]!;
    if (line.length <= width) {
      wrapped.push(line);
      continue;
    }
    // Only prose begins at the margin.
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
  // Quoted texts stay whole.
  for (const [word] of line.slice(indent.length).matchAll(/(?:"[^"]*"|'[^']*'|\S)+ */g)) {
    if (current.trim() !== '' && (current + word).trimEnd().length > room) {
      lines.push(isCommand ? `${current.trimEnd()} \\` : current.trimEnd());
      current = hanging;
    }
    current += word;
  }
  return [...lines, current.trimEnd()];
}
