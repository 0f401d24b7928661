// `offshoot demo`: its help. story.ts has the script.
import { Command } from 'commander';

export function demoCommand(): Command {
  return new Command('demo')
    .description('show environments at work in a minute, on a temporary cluster in this process')
    .addHelpText(
      'after',
      `
Every command is run as it is shown, on a sample shop that answers requests. "offshoot up" runs the same shop for you.

Example:
  offshoot demo`,
    )
    .action(async () => {
      // Loaded on demand, so that other commands start without it.
      const { demo } = await import('./demo.ts');
      await demo();
    });
}
