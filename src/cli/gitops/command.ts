// `offshoot gitops`: prints configuration for GitOps tools such as Argo CD and Flux.
import { Argument, Command } from 'commander';
import { EXIT_HELP } from '../exit.ts';

export function gitopsCommand(): Command {
  return new Command('gitops')
    .description('integrate with Argo CD and Flux')
    .addCommand(ignoreCommand())
    .addHelpText('after', '\nExample:\n  offshoot gitops ignore argocd');
}

function ignoreCommand(): Command {
  return new Command('ignore')
    .description(
      'print the ignore rules for Argo CD and Flux, so that they keep the routes of environments in VirtualServices',
    )
    .addArgument(new Argument('[deployer]', 'the tool (default: all of them)').choices(['argocd', 'flux']))
    .addHelpText(
      'after',
      `
No cluster is needed. Each document says where it belongs; the GitOps guide says which to choose.

Examples:
  offshoot gitops ignore
  offshoot gitops ignore flux
${EXIT_HELP}`,
    )
    .action(async (deployer: 'argocd' | 'flux' | undefined) => {
      const { ignoreRulesText } = await import('../../environments/index.ts');
      process.stdout.write(ignoreRulesText(deployer));
    });
}
