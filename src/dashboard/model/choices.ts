// The choices that forms offer: workloads, namespaces, addresses.
import { DeploymentTargetClass } from '../../api/targets.ts';
import { keyOf } from '../../kube/index.ts';
import { VirtualService } from '../../traffic/istio/objects.ts';
import { Deployment, Service } from '../../traffic/services.ts';
import type { Choices } from '../data.ts';
import { callsTo, containersOf, gatewayCallers, Gateways } from './calls.ts';
import { readerOf } from './reader.ts';
import type { Scope } from './scope.ts';

/** All choices that the user may read. */
export function choicesIn(scope: Scope): Choices {
  const read = readerOf(scope);
  const deployments = read.list(Deployment, {});
  const services = read.list(Service, {});
  const gateways = read.list(Gateways, {});
  const calls = [
    ...gatewayCallers(gateways, read.list(VirtualService, {})).flatMap((each) => each.calls),
    ...services.flatMap((service) => callsTo(service, scope.settings)),
  ];
  return {
    namespaces: [...new Set(deployments.map(({ metadata }) => metadata.namespace ?? ''))],
    workloads: deployments.map((each) => ({
      key: keyOf(each.metadata),
      containers: containersOf(each).map((container) => (container as { readonly name?: string }).name ?? ''),
    })),
    gateways: gateways.map(({ metadata }) => keyOf(metadata)),
    ...(scope.may('list', DeploymentTargetClass, undefined) && {
      classes: read.list(DeploymentTargetClass, {}).map(({ metadata }) => metadata.name),
    }),
    urls: [...new Set(calls.map(({ host, port }) => `http://${host}${port === 80 ? '' : `:${port}`}/`))],
  };
}
