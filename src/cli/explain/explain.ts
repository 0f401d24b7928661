// `offshoot explain`: explains where requests go and why, from the objects of a cluster or of manifests.
import type { DynamicEnv } from '../../api/dynamicenv.ts';
import { uniqueVersion, whyUnrouted } from '../../environments/index.ts';
import { keyOf } from '../../kube/objects.ts';
import type { KubeObject } from '../../kube/objects.ts';
import {
  callersIn,
  consideredData,
  consideredLines,
  createRouter,
  decisionData,
  decisionLines,
  differences,
  gatewayPorts,
  headerFlags,
  isGatewaySource,
  isOfWorld,
  whyNot,
  worldOf,
} from '../../traffic/index.ts';
import type { Decision, Request, Router, WhyNot } from '../../traffic/index.ts';
import { ENVIRONMENT, getEnvironment } from '../env/get.ts';
import { failure } from '../exit.ts';
import { suggestionFor } from '../objects/find.ts';
import type { NamespacedName } from '../objects/find.ts';
import { withConnection } from '../options.ts';
import type { ClusterOptions } from '../options.ts';
import { dataText, printResult } from '../terminal/output.ts';
import type { DataFormat } from '../terminal/output.ts';
import type { ParsedRequest, RequestContext } from './request.ts';
import { requestOf, requestsOf } from './requests.ts';
import type { RequestAt, RequestFlags } from './requests.ts';
import { isEnvironment, manifestsOf, objectsOfCluster } from './world.ts';

export interface ExplainOptions extends ClusterOptions, RequestFlags {
  readonly whyNot?: string;
  readonly requests?: string;
  readonly world?: string;
  readonly clusterDomain: string;
  readonly output?: DataFormat;
}

/** The mesh that requests are evaluated in. */
interface Mesh extends RequestContext {
  readonly objects: readonly KubeObject[];
  readonly router: Router;
  /** The environment of `--why-not`. */
  readonly missed?: NamespacedName;
  /** That environment as an object, if it is known. */
  readonly missedEnv?: DynamicEnv;
}

/** Explains the request of the arguments, or those of a file. */
export async function explain(
  first: string | undefined,
  second: string | undefined,
  options: ExplainOptions,
): Promise<void> {
  const { requests, output } = options;
  if (requests !== undefined && [first, options.header, options.from, options.gateway].some(Boolean)) {
    throw failure(
      'ConflictingFlags',
      '--requests has the requests in its lines: give it without URL, -H, --from and --gateway',
    );
  }
  if (requests === undefined && first === undefined) {
    throw failure('MissingArgument', 'URL is missing: give one such as http://reviews.shop:9080/api, or --requests');
  }
  if (requests === '-' && options.world === '-')
    throw failure('ConflictingFlags', 'only one of --requests and --world can be -');
  const mesh = await meshOf(options);
  if (requests !== undefined) explainAll(mesh, requestsOf(requests, mesh), output);
  else explainOne(mesh, requestOf(first, second, options, mesh), output);
}

async function meshOf(options: ExplainOptions): Promise<Mesh> {
  if (options.world !== undefined) {
    const { namespace = 'default' } = options;
    const all = manifestsOf(options.world, namespace);
    const mesh = meshWith(all.filter(isOfWorld), namespace, options);
    const missedEnv = mesh.missed && environmentIn(all, mesh.missed);
    return { ...mesh, ...(missedEnv && { missedEnv }) };
  }
  return withConnection(options, async ({ client, namespace }) => {
    const mesh = meshWith(await objectsOfCluster(client), namespace, options);
    if (mesh.missed === undefined) return mesh;
    return { ...mesh, missedEnv: await getEnvironment(client, mesh.missed) };
  });
}

/**
 * An environment among manifests. Manifests without any environment are fine; a missing one among others is an error.
 */
function environmentIn(objects: readonly KubeObject[], ref: NamespacedName): DynamicEnv | undefined {
  const all = objects.filter((each): each is DynamicEnv => isEnvironment(each));
  const found = all.find(({ metadata }) => keyOf(metadata) === keyOf(ref));
  if (found !== undefined || all.length === 0) return found;
  const there = all.filter(({ metadata }) => metadata.namespace === ref.namespace);
  const hint = suggestionFor({ ...ENVIRONMENT, list: 'offshoot plan --world' }, ref.name, there);
  throw failure('NotFound', `there is no environment ${ref.name} in namespace ${ref.namespace} of --world; ${hint}`);
}

function meshWith(objects: readonly KubeObject[], namespace: string, options: ExplainOptions): Mesh {
  const { whyNot: env, clusterDomain } = options;
  const gateways = objects.filter(({ kind, apiVersion }) => kind === 'Gateway' && apiVersion.includes('istio.io'));
  return {
    objects,
    router: createRouter(worldOf(objects, { clusterDomain })),
    callers: callersIn(objects),
    gateways: new Map(gateways.map((gateway) => [keyOf(gateway.metadata), gatewayPorts(gateway)])),
    namespace,
    ...(env !== undefined && { missed: environmentOf(env, namespace) }),
  };
}

/** An environment by its name, or as `NAMESPACE/NAME`. */
export function environmentOf(text: string, namespace: string): NamespacedName {
  const [first = '', second] = text.split('/');
  return second === undefined ? { name: first, namespace } : { name: second, namespace: first };
}

function explainOne(mesh: Mesh, { request, title }: ParsedRequest, output: ExplainOptions['output']): void {
  const decision = mesh.router.decide(request);
  const missed = missedBy(mesh, request, decision);
  const rules = consideredLines(decision);
  printResult(output, {
    data: explanation(decision, missed),
    lines: () => [
      title,
      ...decisionLines(decision).map((line) => `  ${line}`),
      ...(rules.length === 0 ? [] : ['', 'Rules for this host, in order:', ...rules.map((line) => `  ${line}`)]),
      ...(missed === undefined ? [] : ['', ...missedLines(missed)]),
      ...nextHopLines(request, decision),
    ],
  });
}

/** How to explain the calls that follow a request through a gateway: only these may reach an environment. */
function nextHopLines({ source, headers = {} }: Request, decision: Decision): string[] {
  if (!isGatewaySource(source) || decision.kind !== 'route') return [];
  const [caller] = decision.destinations.flatMap(({ workloads }) => workloads);
  if (caller === undefined) return [];
  const [namespace, , name] = caller.split('/');
  const command = ['offshoot explain http://HOST:PORT/', '--from', `${namespace}/${name}`, ...headerFlags(headers)];
  return ['', `This is the first hop. For a call that ${name} makes then: ${command.join(' ')}`];
}

/** Prints one line per request; differences from what is expected go to standard error. */
function explainAll(mesh: Mesh, requests: readonly RequestAt[], output: ExplainOptions['output']): void {
  const problems: string[] = [];
  let failed = 0;
  const lines = requests.map(({ request, title, expect, place }) => {
    const decision = mesh.router.decide(request);
    const found = expect === undefined ? [] : differences(expect, decision);
    if (found.length > 0) {
      failed++;
      problems.push(`${place}: ${title}`);
      for (const line of [...found, ...decisionLines(decision)]) problems.push(`    ${line}`);
    }
    const missed = missedBy(mesh, request, decision);
    if (output === undefined) {
      return `${JSON.stringify({ decision: decisionData(decision), ...(missed && { whyNot: missed }) })}\n`;
    }
    const data = explanation(decision, missed);
    if (output === 'json') return `${JSON.stringify(data)}\n`;
    return output === 'yaml' ? `---\n${dataText(output, data)}` : dataText(output, data);
  });
  process.stdout.write(lines.join(''));
  if (failed === 0) return;
  const expected = requests.filter(({ expect }) => expect !== undefined).length;
  console.error(problems.join('\n'));
  throw failure('UnexpectedDecision', `${failed} of ${expected} requests with "expect" did not go where they should`);
}

interface Missed extends WhyNot {
  /** `NAMESPACE/NAME`. */
  readonly environment: string;
}

function explanation(decision: Decision, missed: Missed | undefined): Readonly<Record<string, unknown>> {
  return {
    decision: decisionData(decision),
    considered: consideredData(decision.considered),
    ...(missed && { whyNot: missed }),
  };
}

function missedBy(
  { missed, missedEnv, router, objects }: Mesh,
  request: Request,
  decision: Decision,
): Missed | undefined {
  if (missed === undefined) return undefined;
  const host = router.rulesFor(request.source, request.host, request.port);
  const environment = `${missed.namespace}/${missed.name}`;
  const found = whyNot(uniqueVersion(missed), request, decision, host, objects);
  // The environment's own state explains why it has no route.
  const own = found.reason === undefined ? undefined : missedEnv && whyUnrouted(missedEnv, Date.now());
  return { environment, ...found, ...(own !== undefined && { reason: `${found.reason}: ${own}` }) };
}

function missedLines({ environment, gets, reason, rules }: Missed): string[] {
  if (gets) return [`Environment ${environment} gets this request.`];
  return [
    `Environment ${environment} does not get this request:`,
    ...(reason === undefined ? [] : [`  ${reason}`]),
    ...rules.map(
      ({ virtualService, route, reason: why }) => `  route "${route}" of VirtualService ${virtualService}: ${why}`,
    ),
  ];
}
