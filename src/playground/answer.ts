// What comes back from a call in the playground: who answered, and what came of the calls that they made in turn.

export interface PodAnswer {
  readonly service: string;
  readonly image: string;
  readonly pod: string;
  /** The environment that the pod is of, as `NAMESPACE/NAME`. */
  readonly environment?: string;
  readonly calls: readonly CallResult[];
}

export interface CallResult {
  /** As the caller wrote it; of the first one, what the client asked for. */
  readonly url: string;
  readonly status: number;
  /** The rule that decided where it went: `NAMESPACE/NAME` of the VirtualService, and the route of it. */
  readonly route?: string;
  /** Who answered; undefined where the proxy of the caller did. */
  readonly answer?: PodAnswer;
  /** What the proxy said then. */
  readonly text?: string;
}

/** One pod that a request went through, or a call that got no further. */
export interface Hop {
  readonly service: string;
  /** The tag of an image of the service's own name; any other image in full. */
  readonly version?: string;
  readonly pod?: string;
  readonly environment?: string;
  readonly route?: string;
  /** Only of a call that a proxy answered. */
  readonly status?: number;
  readonly text?: string;
}

/** Who a request went through, in the order in which they were called. */
export function hopsOf(call: CallResult): readonly Hop[] {
  const { route, answer } = call;
  const by = route === undefined ? {} : { route };
  if (answer === undefined) {
    const { status, text } = call;
    return [{ service: serviceOf(call), status, ...(text !== undefined && { text }), ...by }];
  }
  const { service, pod, environment, calls } = answer;
  const hop = { service, version: versionOf(answer), pod, ...(environment && { environment }), ...by };
  return [hop, ...calls.flatMap(hopsOf)];
}

/** The same in one line: `frontend:1 → catalog:1`, with brackets where somebody called several. */
export function pathOf(call: CallResult): string {
  const { answer, status } = call;
  if (answer === undefined) return `${serviceOf(call)} answered ${status}`;
  const [first, ...others] = answer.calls.map(pathOf);
  const own = nameOf(answer.service, versionOf(answer));
  if (first === undefined) return own;
  return `${own} → ${others.length === 0 ? first : `(${[first, ...others].join(', ')})`}`;
}

/** A service with its version as people write it. */
export function nameOf(service: string, version: string): string {
  return version.includes('/') || version.includes(':') ? `${service} (${version})` : `${service}:${version}`;
}

function serviceOf({ url }: CallResult): string {
  return (URL.parse(url)?.hostname ?? url).split('.', 1)[0]!;
}

/** The version that an image is of a service: its tag if it has the name of the service, the whole of it otherwise. */
function versionOf({ service, image }: Pick<PodAnswer, 'service' | 'image'>): string {
  const [, repository = '', tag = 'latest'] = /^(.*?)(?::([^/:@]+))?$/.exec(image) ?? [];
  return repository.split('/').at(-1) === service ? tag : image;
}
