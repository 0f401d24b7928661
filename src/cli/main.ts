// The command line. Each command is thin: it parses, calls a room, prints. Only the called command is loaded.
import { Command } from 'commander';
import { withClusterFlagsLast, withNegatedSwitches } from './options.ts';
import { programWith, run } from './program.ts';

interface Entry {
  /** The description of the command; main.test.ts checks that both are equal. */
  readonly about: string;
  readonly load: () => Promise<Command>;
}

const COMMANDS: Readonly<Record<string, Entry>> = {
  up: {
    about: 'run a Kubernetes API, the controllers, a sample shop and a dashboard in this process, on loopback',
    load: async () => (await import('./up/command.ts')).upCommand(),
  },
  demo: {
    about: 'show environments at work in a minute, on a temporary cluster in this process',
    load: async () => (await import('./demo/command.ts')).demoCommand(),
  },
  run: {
    about: 'run the controllers for a cluster',
    load: async () => (await import('./run/command.ts')).runCommand(),
  },
  crds: {
    about: 'print the CustomResourceDefinitions as YAML',
    load: async () => (await import('./run/crds.ts')).crdsCommand(),
  },
  install: {
    about: 'install or upgrade the control plane in a cluster, without Helm',
    load: async () => (await import('./install/command.ts')).installCommand(),
  },
  uninstall: {
    about: 'uninstall what "offshoot install" installed',
    load: async () => (await import('./install/command.ts')).uninstallCommand(),
  },
  status: {
    about: 'show the version, leaders and health of Offshoot, and the reason for anything unhealthy',
    load: async () => (await import('./status/command.ts')).statusCommand(),
  },
  'support-bundle': {
    about: 'collect objects, Events, logs and metrics for troubleshooting into one file',
    load: async () => (await import('./support-bundle/command.ts')).supportBundleCommand(),
  },
  env: {
    about: 'create, list, describe and delete environments',
    load: async () => (await import('./env/command.ts')).envCommand(),
  },
  plan: {
    about: 'show what environments would change: objects, requests, and whether they would be ready',
    load: async () => (await import('./env/command.ts')).planCommand(),
  },
  explain: {
    about: 'explain where a request goes in the mesh, and why, rule by rule',
    load: async () => (await import('./explain/command.ts')).explainCommand(),
  },
  prove: {
    about: 'prove that environments affect no other requests, or show one that they do',
    load: async () => (await import('./prove/command.ts')).proveCommand(),
  },
  doctor: {
    about: 'check what would keep environments from working here, and how to fix it',
    load: async () => (await import('./doctor/command.ts')).doctorCommand(),
  },
  target: {
    about: 'list and describe deployment targets',
    load: async () => (await import('./target/command.ts')).targetCommand(),
  },
  claim: {
    about: 'claim deployment targets, and release them',
    load: async () => (await import('./claim/command.ts')).claimCommand(),
  },
  routing: {
    about: 'list, describe and translate mesh-neutral routing rules',
    load: async () => (await import('./routing/command.ts')).routingCommand(),
  },
  mesh: {
    about: 'show the state of Istio, and plan restarts and upgrades',
    load: async () => (await import('./mesh/command.ts')).meshCommand(),
  },
  gitops: {
    about: 'integrate with Argo CD and Flux',
    load: async () => (await import('./gitops/command.ts')).gitopsCommand(),
  },
  errors: {
    about: 'explain the code of an error, and what to do about it',
    load: async () => (await import('./errors/command.ts')).errorsCommand(),
  },
  completion: {
    about: 'print the completion script of a shell',
    load: async () => (await import('./completion/command.ts')).completionCommand(),
  },
  version: {
    about: 'print the version of this program, and of each part that runs in the cluster',
    load: async () => (await import('./version/command.ts')).versionCommand(),
  },
};

/** The whole command line. */
export async function program(): Promise<Command> {
  return programWith(await Promise.all(Object.values(COMMANDS).map(({ load }) => load())));
}

/** The names and descriptions of all commands, without loading them. */
export function outline(): Command {
  return programWith(Object.entries(COMMANDS).map(([name, { about }]) => new Command(name).description(about)));
}

/** The command line with the called command only; its outline if there is none. */
async function programFor(name: string | undefined): Promise<Command> {
  if (name === 'complete') {
    const { completeCommand } = await import('./completion/command.ts');
    return programWith([completeCommand(program)]);
  }
  const entry = Object.entries(COMMANDS).find(([each]) => each === name)?.[1];
  return entry === undefined ? outline() : programWith([await entry.load()]);
}

/** `run` accepts flags in the syntax of Go operators. */
async function withGoFlags(argv: readonly string[]): Promise<readonly string[]> {
  const [{ withTwoDashes }, { runCommand }] = await Promise.all([
    import('./run/go-flags.ts'),
    import('./run/command.ts'),
  ]);
  return withTwoDashes(argv, runCommand());
}

export function main(given: readonly string[]): Promise<void> {
  const argv = withClusterFlagsLast(given);
  // Flags of the program itself take no values.
  const name = argv.slice(2).find((argument) => !argument.startsWith('-'));
  const called = name === 'help' ? argv.slice(2).filter((argument) => !argument.startsWith('-'))[1] : name;
  return run(
    () => programFor(called),
    async () => {
      const words = withNegatedSwitches(argv);
      return argv[2] === 'run' ? withGoFlags(words) : words;
    },
  );
}
