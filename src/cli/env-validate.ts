// `offshoot env validate`: the schema and the rules of admission, without a cluster.
import { Command } from 'commander';
import { CommandFailed, EXIT } from './exit.ts';
import { filenameFlag } from './options.ts';

interface ValidateOptions {
  readonly filename: readonly string[];
  readonly namespace: string;
}

/** The command; `env.ts` adds it. */
export function validateCommand(): Command {
  return new Command('validate')
    .description('check manifests of environments without a cluster')
    .addOption(filenameFlag('what to check').makeOptionMandatory())
    .option('-n, --namespace <name>', 'namespace of environments that name none', 'default')
    .addHelpText(
      'after',
      `
Examples:
  offshoot env validate -f feature.yaml
  kustomize build . | offshoot env validate -f -

What depends on a cluster is not checked: rights of the requester, and names that environments there have.

Exit codes:
  0    everything would be admitted
  1    something would be refused: each line says where and why`,
    )
    .action(validate);
}

async function validate({ filename, namespace }: ValidateOptions): Promise<void> {
  // Loaded here, so that every other command starts without it.
  const [{ checkManifests }, { filesOf }] = await Promise.all([
    import('./check-manifest.ts'),
    import('./manifests.ts'),
  ]);
  const { findings, valid } = checkManifests(filename.flatMap(filesOf), namespace);
  for (const key of valid) console.log(`dynamicenv/${key} is valid`);
  for (const { source, line, column, message } of findings) console.error(`${source}:${line}:${column}: ${message}`);
  if (findings.length > 0) throw new CommandFailed(EXIT.error);
  if (valid.length === 0)
    throw new CommandFailed(EXIT.error, `-f ${filename.join(', ')}: there is no DynamicEnv in it`);
}
