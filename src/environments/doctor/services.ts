// Services that do not select clones, and ports that routes do not apply to.
import type { Service as MeshedService } from '../../traffic/services.ts';
import { clonePodLabels } from '../clone/clone.ts';
import type { EnvironmentFacts } from '../facts.ts';
import { Deployment, Service } from '../objects.ts';
import { environmentOfClone } from '../identity/ownership.ts';
import { VirtualService } from '../../traffic/istio/objects.ts';
import type { Facts } from '../../controller/index.ts';
import type { Settings } from '../settings.ts';
import { about } from './finding.ts';
import type { Finding } from './finding.ts';

type Port = NonNullable<NonNullable<MeshedService['spec']>['ports']>[number];

/** Problems of the Services of a workload. */
export function serviceFindings({ env, workloads: [workload] }: EnvironmentFacts, settings: Settings): Finding[] {
  const { subset, base, services, hosts } = workload!;
  const labels = clonePodLabels(env, subset, base!, settings);
  return services.flatMap((service): Finding[] => {
    if (hosts.some((each) => each.service === service.metadata.name)) return portFindings(service);
    const unmatched = Object.entries(service.spec?.selector ?? {}).filter(([name, value]) => labels[name] !== value);
    const names = unmatched.map(([name, value]) => `${name}=${value}`).join(', ');
    return [
      {
        severity: hosts.length === 0 ? 'error' : 'warning',
        reason: 'ServiceSelectsBaseOnly',
        ...about(service),
        message: `its selector asks for ${names}, which clones of Deployment ${subset.name} do not have: no request to it reaches them`,
        advice: `leave ${unmatched.map(([name]) => name).join(', ')} out of its selector: DestinationRule subsets distinguish versions`,
      },
    ];
  });
}

/** Services with routes whose base is gone: requests without a key get no response from them. */
export function clonesOnlyFindings(view: Facts, isSelected: (namespace?: string) => boolean): Finding[] {
  const deployments = view.list(Deployment);
  const routed = new Set(
    view
      .list(VirtualService)
      .flatMap(({ metadata, spec }) =>
        (spec?.hosts ?? []).map((host) =>
          (host.includes('.') ? host : `${host}.${metadata.namespace}`).split('.', 2).join('.'),
        ),
      ),
  );
  return view.list(Service).flatMap((service): Finding[] => {
    const { name, namespace } = service.metadata;
    const selector = Object.entries(service.spec?.selector ?? {});
    if (!isSelected(namespace) || selector.length === 0 || !routed.has(`${name}.${namespace}`)) return [];
    const selected = deployments.filter(({ metadata, spec }) => {
      const labels = (spec as Deployment['spec'] | undefined)?.template?.metadata?.labels ?? {};
      return metadata.namespace === namespace && selector.every(([label, value]) => labels[label] === value);
    });
    if (selected.length === 0 || selected.some((each) => environmentOfClone(each) === undefined)) return [];
    const environments = [...new Set(selected.map((each) => environmentOfClone(each)))].join(', ');
    return [
      {
        severity: 'error',
        reason: 'ServiceSelectsClonesOnly',
        ...about(service),
        message: `it selects only clones (of ${environments}): its base Deployment is gone, and requests without a key get no answer`,
        advice: `create the base Deployment again, or delete ${environments}`,
      },
    ];
  });
}

/** Prefixes of port names by which Istio knows the protocol. */
const HTTP = new Set(['http', 'http2', 'grpc', 'h2c', 'ws']);
const OTHERS = new Set(['https', 'tls', 'tcp', 'udp', 'mongo', 'mysql', 'redis', 'sctp', 'hbone', 'wss']);

function portFindings(service: Service): Finding[] {
  const ports = ((service.spec?.['ports'] ?? []) as readonly Port[]).filter(
    ({ protocol = 'TCP' }) => protocol === 'TCP',
  );
  const protocolOf = ({ name = '', appProtocol = name }: Port): string =>
    appProtocol
      .toLowerCase()
      .replace(/^kubernetes\.io\//, '')
      .split('-', 1)[0]!;
  if (ports.length > 0 && ports.every((port) => OTHERS.has(protocolOf(port)))) {
    return [
      {
        severity: 'error',
        reason: 'NoHttpPort',
        ...about(service),
        message: `it has no HTTP port (${ports.map(portText).join(', ')}): routes of environments have no effect there`,
        advice: 'if it serves HTTP, start the name of its port with http or grpc, or set appProtocol',
      },
    ];
  }
  return ports
    .filter((port) => !HTTP.has(protocolOf(port)) && !OTHERS.has(protocolOf(port)))
    .map((port) => ({
      severity: 'warning',
      reason: 'PortWithoutProtocol',
      ...about(service),
      message: `port ${portText(port)} does not declare its protocol: Istio detects it from the first bytes of each connection`,
      advice: 'start its name with http or grpc, or set appProtocol: http',
    }));
}

function portText({ port, name }: Port): string {
  return name ? `${port} "${name}"` : `${port} without a name`;
}
