// Minimal pods and workloads for the scenarios.

/** A pod with one container. */
export function pod(name: string, spec: object = {}, metadata: object = {}): object {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, ...metadata },
    spec: { containers: [{ name: 'c', image: 'i' }], ...spec },
  };
}

/** A Deployment whose pods have the label `app` with its name. */
export function deployment(name: string, spec: object = {}, podSpec: object = {}, annotations?: object): object {
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name },
    spec: {
      selector: { matchLabels: { app: name } },
      template: {
        metadata: { labels: { app: name }, ...(annotations === undefined ? {} : { annotations }) },
        spec: { containers: [{ name: 'c', image: 'i' }], ...podSpec },
      },
      ...spec,
    },
  };
}
