// The command line. Each command is thin: it parses, calls a room, prints. Only the one that is called is loaded.
import { Command } from 'commander';
import { withNegatedSwitches } from './options.ts';
import { programWith, run } from './program.ts';

interface Entry {
  /** As the command describes itself; main.test.ts holds both together. */
  readonly about: string;
  readonly load: () => Promise<Command>;
}

const COMMANDS: Readonly<Record<string, Entry>> = {
  up: {
    about: 'run a Kubernetes API, the controllers, a sample shop and a dashboard in this process, on loopback',
    load: async () => (await import('./up/command.ts')).upCommand(),
  },
  demo: {
    about: 'show in a minute what environments do, on a cluster of its own that is gone afterwards',
    load: async () => (await import('./demo/command.ts')).demoCommand(),
  },
  run: {
    about: 'run the controllers for a cluster',
    load: async () => (await import('./run/command.ts')).runCommand(),
  },
  crds: {
    about: 'print the definitions of our kinds as YAML',
    load: async () => (await import('./run/crds.ts')).crdsCommand(),
  },
  install: {
    about: 'install the control plane in a cluster, or bring an installation up to date, without Helm',
    load: async () => (await import('./install/command.ts')).installCommand(),
  },
  uninstall: {
    about: 'remove what "offshoot install" has installed',
    load: async () => (await import('./install/command.ts')).uninstallCommand(),
  },
  status: {
    about: 'show on one screen which version runs, who leads, and what is not well and why',
    load: async () => (await import('./status/command.ts')).statusCommand(),
  },
  'support-bundle': {
    about: 'collect what is needed to find out what is wrong into one file: objects, Events, logs, metrics',
    load: async () => (await import('./support-bundle/command.ts')).supportBundleCommand(),
  },
  env: {
    about: 'make, look at and remove environments',
    load: async () => (await import('./env/command.ts')).envCommand(),
  },
  plan: {
    about: 'show what environments would change, objects and requests, and whether they would be ready',
    load: async () => (await import('./env/command.ts')).planCommand(),
  },
  explain: {
    about: 'say where a request goes in the mesh, and why, rule by rule',
    load: async () => (await import('./explain/command.ts')).explainCommand(),
  },
  prove: {
    about: "prove that environments leave everybody else's requests alone, or show one that they do not",
    load: async () => (await import('./prove/command.ts')).proveCommand(),
  },
  doctor: {
    about: 'say what would stop environments from working here, and what to do about it',
    load: async () => (await import('./doctor/command.ts')).doctorCommand(),
  },
  target: {
    about: 'look at places to deploy to',
    load: async () => (await import('./target/command.ts')).targetCommand(),
  },
  claim: {
    about: 'claim places to deploy to, and give them back',
    load: async () => (await import('./claim/command.ts')).claimCommand(),
  },
  routing: {
    about: 'mesh-neutral routing rules: what becomes of them, and what a mesh would get',
    load: async () => (await import('./routing/command.ts')).routingCommand(),
  },
  mesh: {
    about: 'the life of Istio: what is installed, and what would change',
    load: async () => (await import('./mesh/command.ts')).meshCommand(),
  },
  gitops: {
    about: 'work together with Argo CD and Flux',
    load: async () => (await import('./gitops/command.ts')).gitopsCommand(),
  },
  errors: {
    about: 'say what the code of an error means, and what to do about it',
    load: async () => (await import('./errors/command.ts')).errorsCommand(),
  },
  completion: {
    about: 'print a completion script for a shell',
    load: async () => (await import('./completion/command.ts')).completionCommand(),
  },
  version: {
    about: 'print the version of this program, and of what runs in the cluster, part by part',
    load: async () => (await import('./version/command.ts')).versionCommand(),
  },
};

/** The whole command line. */
export async function program(): Promise<Command> {
  return programWith(await Promise.all(Object.values(COMMANDS).map(({ load }) => load())));
}

/** What help tells of the commands, without them. */
export function outline(): Command {
  return programWith(Object.entries(COMMANDS).map(([name, { about }]) => new Command(name).description(about)));
}

/** The command line with the command that is called; its outline where none is. */
async function programFor(name: string | undefined): Promise<Command> {
  if (name === 'complete') {
    const { completeCommand } = await import('./completion/command.ts');
    return programWith([completeCommand(program)]);
  }
  const entry = Object.entries(COMMANDS).find(([each]) => each === name)?.[1];
  return entry === undefined ? outline() : programWith([await entry.load()]);
}

/** `run` takes over the arguments of an operator written in Go. */
async function withGoFlags(argv: readonly string[]): Promise<readonly string[]> {
  const [{ withTwoDashes }, { runCommand }] = await Promise.all([
    import('./run/go-flags.ts'),
    import('./run/command.ts'),
  ]);
  return withTwoDashes(argv, runCommand());
}

/** Runs the command that the arguments name. */
export function main(argv: readonly string[]): Promise<void> {
  // Flags of the program itself take no values.
  const name = argv.slice(2).find((argument) => !argument.startsWith('-'));
  const asked = name === 'help' ? argv.slice(2).filter((argument) => !argument.startsWith('-'))[1] : name;
  return run(
    () => programFor(asked),
    async () => {
      const understood = withNegatedSwitches(argv);
      return argv[2] === 'run' ? withGoFlags(understood) : understood;
    },
  );
}
