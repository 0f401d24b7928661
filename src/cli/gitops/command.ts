// `offshoot gitops`: what deployers such as Argo CD and Flux have to be told.
import { Argument, Command } from 'commander';
import { EXIT_HELP } from '../exit.ts';

export function gitopsCommand(): Command {
  return new Command('gitops')
    .description('work together with Argo CD and Flux')
    .addCommand(ignoreCommand())
    .addHelpText('after', '\nExample:\n  offshoot gitops ignore argocd');
}

function ignoreCommand(): Command {
  return new Command('ignore')
    .description('print the rules by which a deployer leaves alone what environments write into VirtualServices')
    .addArgument(new Argument('[deployer]', 'for which (default: all of them)').choices(['argocd', 'flux']))
    .addHelpText(
      'after',
      `
No cluster is asked. Each document says where it belongs; the guide about GitOps says which to choose.

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
