// The command line. Each command is thin: it parses, calls a room, prints.
import type { Command } from 'commander';
import { claimCommand } from './claim/command.ts';
import { completeCommand, completionCommand } from './completion/command.ts';
import { demoCommand } from './demo/command.ts';
import { doctorCommand } from './doctor/command.ts';
import { envCommand, planCommand } from './env/command.ts';
import { errorsCommand } from './errors/command.ts';
import { explainCommand } from './explain/command.ts';
import { gitopsCommand } from './gitops/command.ts';
import { installCommand, uninstallCommand } from './install/command.ts';
import { crdsCommand } from './run/crds.ts';
import { withTwoDashes } from './run/go-flags.ts';
import { withNegatedSwitches } from './options.ts';
import { meshCommand } from './mesh/command.ts';
import { programWith, run } from './program.ts';
import { proveCommand } from './prove/command.ts';
import { routingCommand } from './routing/command.ts';
import { runCommand } from './run/command.ts';
import { targetCommand } from './target/command.ts';
import { upCommand } from './up/command.ts';
import { versionCommand } from './version/command.ts';

const COMMANDS: Readonly<Record<string, () => Command>> = {
  up: upCommand,
  demo: demoCommand,
  run: runCommand,
  crds: crdsCommand,
  install: installCommand,
  uninstall: uninstallCommand,
  env: envCommand,
  plan: planCommand,
  explain: explainCommand,
  prove: proveCommand,
  doctor: doctorCommand,
  target: targetCommand,
  claim: claimCommand,
  routing: routingCommand,
  mesh: meshCommand,
  gitops: gitopsCommand,
  errors: errorsCommand,
  completion: completionCommand,
  version: versionCommand,
};

/** The whole command line. */
export function program(): Command {
  const commands = Object.values(COMMANDS).map((make) => make());
  return programWith(commands).addCommand(completeCommand(program), { hidden: true });
}

/** `run` takes over the arguments of an operator written in Go. */
function goFlagsOf(argv: readonly string[]): readonly string[] {
  return argv[2] === 'run' ? withTwoDashes(argv, runCommand()) : argv;
}

/** Runs the command that the arguments name. */
export function main(argv: readonly string[]): Promise<void> {
  // Where it is the first word, no other command is needed: to make all of them takes a while.
  const [, make] = Object.entries(COMMANDS).find(([name]) => name === argv[2]) ?? [];
  return run(
    () => (make === undefined ? program() : programWith([make()])),
    () => goFlagsOf(withNegatedSwitches(argv)),
  );
}
