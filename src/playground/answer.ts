// The result of a call in the playground: the pod that answered, and the results of the calls that it made in turn.

export interface PodAnswer {
  readonly service: string;
  readonly image: string;
  readonly pod: string;
  /** The environment that the pod belongs to, as `NAMESPACE/NAME`. */
  readonly environment?: string;
  readonly calls: readonly CallResult[];
}

export interface CallResult {
  /** As the caller wrote it; for the first call, what the client requested. */
  readonly url: string;
  readonly status: number;
  /** The rule that routed the call: `NAMESPACE/NAME` of the VirtualService, and its route. */
  readonly route?: string;
  /** The pod's answer; undefined if the caller's proxy answered. */
  readonly answer?: PodAnswer;
  /** The body of the proxy's answer. */
  readonly text?: string;
}

/** One pod that a request went through, or a call that reached no pod. */
export interface Hop {
  readonly service: string;
  /** The image tag if the image is named after the service; otherwise the whole image. */
  readonly version?: string;
  readonly pod?: string;
  readonly environment?: string;
  readonly route?: string;
  /** Only set if a proxy answered. */
  readonly status?: number;
  readonly text?: string;
}

/** The hops of a request, in call order. */
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

/** The hops in one line: `frontend:1 → catalog:1`, with brackets around several calls of one pod. */
export function pathOf(call: CallResult): string {
  const { answer, status } = call;
  if (answer === undefined) return `${serviceOf(call)} answered ${status}`;
  const [first, ...others] = answer.calls.map(pathOf);
  const own = nameOf(answer.service, versionOf(answer));
  if (first === undefined) return own;
  return `${own} → ${others.length === 0 ? first : `(${[first, ...others].join(', ')})`}`;
}

/** A service with its version: `reviews:2`, or `reviews (my/own:3)`. */
export function nameOf(service: string, version: string): string {
  return version.includes('/') || version.includes(':') ? `${service} (${version})` : `${service}:${version}`;
}

function serviceOf({ url }: CallResult): string {
  return (URL.parse(url)?.hostname ?? url).split('.', 1)[0]!;
}

/** The version of a service: the image tag if the image is named after the service, otherwise the whole image. */
function versionOf({ service, image }: Pick<PodAnswer, 'service' | 'image'>): string {
  const [, repository = '', tag = 'latest'] = /^(.*?)(?::([^/:@]+))?$/.exec(image) ?? [];
  return repository.split('/').at(-1) === service ? tag : image;
}
