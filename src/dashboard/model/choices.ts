// What can be chosen from in forms: workloads, namespaces, addresses.
import type { Facts } from '../../controller/index.ts';
import { keyOf } from '../../kube/index.ts';
import { Deployment, Service } from '../../traffic/services.ts';
import type { Choices } from '../data.ts';
import { callsTo, containersOf, gatewayCallers, Gateways } from './calls.ts';
import type { MayRead } from './reader.ts';

/** All choices, as far as they may be read. */
export function choicesIn(facts: Facts, mayRead: MayRead): Choices {
  const deployments = facts.list(Deployment).filter(({ metadata }) => mayRead(Deployment, metadata.namespace));
  const services = facts.list(Service).filter(({ metadata }) => mayRead(Service, metadata.namespace));
  const gateways = facts.list(Gateways).filter(({ metadata }) => mayRead(Gateways, metadata.namespace));
  const visible = new Set(gateways.map(({ metadata }) => `gateway ${keyOf(metadata)}`));
  const calls = [
    ...gatewayCallers(facts)
      .filter(({ id }) => visible.has(id))
      .flatMap((each) => each.calls),
    ...services.flatMap((service) => callsTo(service)),
  ];
  return {
    namespaces: [...new Set(deployments.map(({ metadata }) => metadata.namespace ?? ''))],
    workloads: deployments.map((each) => ({
      key: keyOf(each.metadata),
      containers: containersOf(each).map((container) => (container as { readonly name?: string }).name ?? ''),
    })),
    gateways: gateways.map(({ metadata }) => keyOf(metadata)),
    urls: [...new Set(calls.map(({ host, port }) => `http://${host}${port === 80 ? '' : `:${port}`}/`))],
  };
}
