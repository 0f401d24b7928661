// The report of `offshoot status`: a pure function of the observed objects.
import type { KubeObject } from '../../kube/objects.ts';
import { keyOf } from '../../kube/objects.ts';
import type { Lease } from '../../kube/lease.ts';
import { MANAGED_BY } from '../install/installed.ts';
import type { Part } from '../run/parts.ts';
import type { Subject } from './objects.ts';
import type { Installed, Observed, Pod } from './read.ts';

export interface StatusReport {
  /** The versions of this program and of the installation. */
  readonly version: { readonly program: string; readonly installed?: string };
  readonly installations: readonly Installation[];
  readonly parts: readonly PartReport[];
  readonly problems: readonly Problem[];
  /** What could not be read, and why. */
  readonly unread: readonly string[];
}

interface Installation {
  readonly namespace: string;
  readonly managedBy: string;
  readonly version: string;
  readonly replicas: number;
  readonly ready: number;
}

export interface PartReport {
  readonly name: string;
  /** `running`: its Lease is held. `stopped`: it is enabled, but its Lease is not held. `off`: it is not enabled. */
  readonly state: 'running' | 'stopped' | 'unknown' | 'off';
  readonly leader?: string;
  /** Since when the leader leads. */
  readonly since?: string;
  readonly objects: readonly {
    readonly noun: string;
    readonly count: number;
    readonly states: Readonly<Record<string, number>>;
  }[];
}

interface Problem {
  readonly severity: 'error' | 'warning';
  /** `pod offshoot/offshoot-1`. */
  readonly about: string;
  readonly message: string;
  /** What to do, or the command that shows more. */
  readonly advice: string;
}

export interface ReportInputs {
  readonly observed: Observed;
  readonly parts: readonly Part[];
  readonly subjects: readonly Subject[];
  readonly version: string;
  readonly now: number;
}

/** Tolerated clock skew: a Lease that expired less than this ago still counts as held. */
const TOLERANCE_MS = 5_000;

export function reportOf({ observed, parts, subjects, version, now }: ReportInputs): StatusReport {
  const installations = observed.deployments.map(installationOf);
  const installed = installations[0]?.version;
  const reports = parts.map((part) => partReport(part, observed, subjects, now));
  return {
    version: { program: version, ...(installed !== undefined && { installed }) },
    installations,
    parts: reports,
    problems: [
      ...observed.deployments.flatMap(deploymentProblems),
      ...observed.pods.flatMap(podProblems),
      ...parts.flatMap((part, at) => partProblems(part, reports[at]!, observed, now)),
      ...subjects.flatMap((subject) => subjectProblems(subject, observed)),
    ],
    unread: observed.unread,
  };
}

function installationOf(deployment: Installed): Installation {
  const { metadata, spec, status } = deployment;
  return {
    namespace: metadata.namespace ?? '',
    managedBy: metadata.labels?.[MANAGED_BY] ?? 'nobody',
    version: metadata.labels?.['app.kubernetes.io/version'] ?? 'unknown',
    replicas: spec?.replicas ?? 1,
    ready: status?.readyReplicas ?? 0,
  };
}

function partReport(part: Part, observed: Observed, subjects: readonly Subject[], now: number): PartReport {
  const lease = leaseNamed(part.lease, observed, now);
  const isHeld = lease !== undefined && isHeldBy(lease, now);
  const isEnabled = lease !== undefined || observed.deployments.some((each) => runs(each, part.name));
  const hasObjects = subjects.some(({ part: of, kind }) => of === part.name && observed.objects.get(kind.kind)?.length);
  return {
    name: part.name,
    // Without leader election, a process leaves no trace here.
    state: isHeld ? 'running' : isEnabled ? 'stopped' : hasObjects ? 'unknown' : 'off',
    ...(isHeld && {
      leader: lease.spec!.holderIdentity!,
      ...(lease.spec?.acquireTime !== undefined && { since: lease.spec.acquireTime }),
    }),
    objects: subjects
      .filter((subject) => subject.part === part.name)
      .flatMap((subject) => {
        const { kind, one, many } = subject;
        const objects = observed.objects.get(kind.kind) ?? [];
        const states = Map.groupBy(objects, (each) => subject.stateOf(each));
        const counts = Object.fromEntries([...states].map(([state, some]) => [state, some.length]));
        return objects.length === 0
          ? []
          : [{ noun: objects.length === 1 ? one : many, count: objects.length, states: counts }];
      }),
  };
}

/** The Lease with a name: the one that is held, if there are several. */
function leaseNamed(name: string, { leases }: Observed, now: number): Lease | undefined {
  const named = leases.filter(({ metadata }) => metadata.name === name);
  return named.find((each) => isHeldBy(each, now)) ?? named[0];
}

function isHeldBy({ spec }: Lease, now: number): boolean {
  if (!spec?.holderIdentity || spec.renewTime === undefined) return false;
  return Date.parse(spec.renewTime) + (spec.leaseDurationSeconds ?? 0) * 1000 + TOLERANCE_MS > now;
}

function argsOf({ spec }: Installed): readonly string[] {
  return (spec?.template?.spec?.containers ?? []).flatMap((container) => container.args ?? []);
}

function runs(deployment: Installed, part: string): boolean {
  const flag = argsOf(deployment).find((each) => each.startsWith('--controllers='));
  return flag !== undefined && flag.slice('--controllers='.length).split(',').includes(part);
}

function deploymentProblems(deployment: Installed): Problem[] {
  const { namespace, replicas, ready } = installationOf(deployment);
  if (replicas > 0 && ready >= replicas) return [];
  const about = `Deployment ${keyOf(deployment.metadata)}`;
  if (replicas === 0)
    return [
      {
        severity: 'error',
        about,
        message: 'it is scaled to 0',
        advice: `kubectl scale deployment/offshoot --replicas=2 -n ${namespace}`,
      },
    ];
  const message = `${ready} of ${replicas} replicas are ready`;
  return [
    {
      severity: ready === 0 ? 'error' : 'warning',
      about,
      message,
      advice: `kubectl describe deployment/offshoot -n ${namespace}`,
    },
  ];
}

/** From this number on, restarts are reported. */
const MANY_RESTARTS = 3;

function podProblems({ metadata, status }: Pod): Problem[] {
  const about = `pod ${keyOf(metadata)}`;
  return (status?.containerStatuses ?? []).flatMap(({ name, ready, restartCount, state, lastState }): Problem[] => {
    const ended = lastState?.terminated;
    const last =
      ended === undefined ? '' : `, the last time ${ended.reason ?? 'ended'} with exit code ${ended.exitCode}`;
    const logs = `kubectl logs ${metadata.name} -n ${metadata.namespace} -c ${name} --previous`;
    const waits = [state?.waiting?.reason, state?.waiting?.message].filter(Boolean).join(': ');
    if (!ready && waits !== '')
      return [{ severity: 'error', about, message: `container ${name}: ${waits}`, advice: logs }];
    if (restartCount < MANY_RESTARTS) return [];
    return [
      {
        severity: 'warning',
        about,
        message: `container ${name} was restarted ${restartCount} times${last}`,
        advice: logs,
      },
    ];
  });
}

/** What to do about an operator that does some of the work of a part, if the part waits for it. */
function waitsFor({ other }: Part, observed: Observed, now: number): string | undefined {
  if (other === undefined || observed.deployments.some((each) => argsOf(each).includes(other.flag))) return undefined;
  const lease = leaseNamed(other.lease, observed, now);
  if (lease === undefined || !isHeldBy(lease, now)) return undefined;
  const holder = `${lease.spec!.holderIdentity} (Lease ${keyOf(lease.metadata)})`;
  return `it waits for ${holder}: stop that, or leave the work to it with ${other.flag}`;
}

function partProblems(part: Part, report: PartReport, observed: Observed, now: number): Problem[] {
  const about = `part ${part.name}`;
  if (report.state === 'off') return [];
  if (report.state === 'unknown') {
    const left = report.objects.map(({ count, noun }) => `${count} ${noun}`).join(' and ');
    const message = `it is not known whether a controller manages ${left}: there is neither a Lease nor a Deployment for them`;
    const advice = `if "offshoot run" runs without --leader-elect, add it; if not, enable the part (parts.${part.name}=true, or "offshoot run --controllers ${part.name} --leader-elect")`;
    return [{ severity: 'warning', about, message, advice }];
  }
  const problems: Problem[] = [];
  if (report.state === 'stopped') {
    const lease = leaseNamed(part.lease, observed, now);
    const holder = lease?.spec?.holderIdentity;
    const last = holder ? `: ${holder} did until ${lease?.spec?.renewTime}` : '';
    const advice =
      waitsFor(part, observed, now) ?? 'look at the pods above and their logs; "offshoot support-bundle" collects them';
    problems.push({ severity: 'error', about, message: `it has no leader, so nothing is reconciled${last}`, advice });
  }
  const missing = part.resources.map(({ crd }) => crd.metadata.name).filter((name) => !observed.definitions.has(name));
  if (missing.length > 0 && observed.definitions.size > 0) {
    const advice = 'offshoot crds | kubectl apply -f -';
    problems.push({ severity: 'error', about, message: `the cluster does not know ${missing.join(', ')}`, advice });
  }
  const registration = observed.webhooks.find(({ metadata }) => metadata.name === part.webhook?.configurationName);
  if (registration?.webhooks?.some(({ clientConfig }) => !clientConfig?.caBundle)) {
    const message = `ValidatingWebhookConfiguration ${registration.metadata.name} has no caBundle, so objects are refused`;
    problems.push({
      severity: 'error',
      about,
      message,
      advice: 'look at the logs of the pods; cert-manager may have to put it there',
    });
  }
  return problems;
}

/** The most unhealthy objects of a kind that are named. */
const MAX_NAMED = 5;

function subjectProblems(subject: Subject, { objects }: Observed): Problem[] {
  const { kind, one, many } = subject;
  const unhealthy = (objects.get(kind.kind) ?? []).flatMap((object): { object: KubeObject; message: string }[] => {
    const message = subject.problemOf(object);
    return message === undefined ? [] : [{ object, message }];
  });
  const named = unhealthy.slice(0, MAX_NAMED).map(({ object, message }): Problem => ({
    severity: 'warning',
    about: `${one} ${keyOf(object.metadata)}`,
    message,
    advice: subject.advice(object),
  }));
  if (unhealthy.length <= MAX_NAMED) return named;
  const rest = unhealthy.length - MAX_NAMED;
  return [
    ...named,
    {
      severity: 'warning',
      about: many,
      message: `${rest} more are not healthy`,
      advice: `kubectl get ${kind.plural} -A`,
    },
  ];
}
