// `offshoot explain`: its flags and help.
import { Command, Option } from 'commander';
import { clusterFlags, collect, outputFlag, worldFlag } from '../options.ts';
import { clusterDomainFlag } from '../run/environment-flags.ts';
import type { ExplainOptions } from './explain.ts';

export function explainCommand(): Command {
  return clusterFlags(new Command('explain'))
    .description('explain where a request goes in the mesh, and why, rule by rule')
    .argument('[METHOD]', 'the method (default: GET)')
    .argument('[URL]', 'the URL as the caller writes it, such as http://reviews.shop:9080/api')
    .addOption(new Option('-H, --header <name: value>', 'a header of the request; repeatable').argParser(collect))
    .option('--from <namespace/workload>', 'the caller (default: a pod without labels in the namespace of -n)')
    .addOption(
      new Option('--gateway <namespace/name>', 'the request enters through this Gateway instead').conflicts('from'),
    )
    .option('--why-not <environment>', 'explain why the routes of this environment did not get the request')
    .option('--requests <file>', 'explain many requests: one JSON object per line; - for standard input')
    .addOption(worldFlag('ask'))
    .addOption(clusterDomainFlag())
    .addOption(outputFlag(['json', 'yaml']))
    .addHelpText(
      'after',
      `
Where the request goes is worked out from Services, workloads and Istio's objects; nothing is sent.

A line of --requests is a JSON object with the fields method, url, headers (a value may be a list), gateway, and from:
"namespace/workload", or an object with namespace and labels. For each line one is printed: the decision; with -o json
also the rules that were considered. A line with the field expect (workload, subset, status) is a test: differences are
reported, and the exit code is 1.

Examples:
  offshoot explain GET http://reviews.shop:9080/api -H 'x-env: pr-7' -n shop
  offshoot explain http://reviews.shop:9080/ --from shop/productpage
  offshoot explain https://shop.example.com/ --gateway istio-system/edge -o json
  offshoot explain http://reviews.shop:9080/ -n shop --why-not pr-7
  offshoot explain --world manifests/ --requests requests.jsonl

Exit codes:
  0    done
  1    an error, or a decision that is not as expected`,
    )
    .action(async (method: string | undefined, url: string | undefined, options: ExplainOptions) => {
      const { explain } = await import('./explain.ts');
      await explain(method, url, options);
    });
}
