// The effect of a forecast on requests: those that would be routed differently, and whether environments would be
// isolated.
import type { Facts, Forecast, ReportedChange } from '../../controller/index.ts';
import { keyOf } from '../../kube/index.ts';
import type { Ref } from '../../kube/index.ts';
import { meshSettingsIn, trafficDiff, worldOfFacts } from '../../traffic/index.ts';
import type { TrafficDiff } from '../../traffic/index.ts';
import { fullHost, ruleHost } from '../../traffic/istio/hosts.ts';
import { DestinationRule, VirtualService } from '../../traffic/istio/objects.ts';
import { conflictsIn } from '../requests/conflicts.ts';
import type { Conflict } from '../requests/conflicts.ts';
import { findServices } from '../lookup/lookup.ts';
import { messages } from '../status/messages.ts';
import { Deployment, Service } from '../objects.ts';
import { proofData } from '../proofs/proof-data.ts';
import type { ProofData } from '../proofs/proof-data.ts';
import { proveEnvironment } from '../proofs/prove-environment.ts';
import type { Settings } from '../settings.ts';

/** The requests that would be routed differently because of some changes. */
export function trafficOf(
  before: Facts,
  after: Facts,
  changes: readonly ReportedChange[],
  { clusterDomain }: Settings,
): TrafficDiff {
  const settings = meshSettingsIn(before, { clusterDomain });
  const refs = changes.map(({ kind, name, namespace = '' }) => ({ kind, ref: { name, namespace } }));
  const of = (kindName: string): readonly Required<Ref>[] =>
    refs.flatMap(({ kind, ref }) => (kind === kindName ? [ref] : []));
  const hosts = [before, after].flatMap((facts) => [
    ...of(DestinationRule.kind)
      .flatMap((ref) => facts.get(DestinationRule, ref) ?? [])
      .map((rule) => ruleHost(rule, clusterDomain)),
    ...of(Deployment.kind)
      .flatMap((ref) => facts.get(Deployment, ref) ?? [])
      .flatMap((each) => findServices(facts, each))
      .map(({ metadata }) => fullHost(metadata.name, metadata.namespace ?? '', clusterDomain)),
  ]);
  const services = of(Service.kind).map(({ name, namespace }) => fullHost(name, namespace, clusterDomain));
  return trafficDiff(worldOfFacts(before, settings), worldOfFacts(after, settings), {
    virtualServices: of(VirtualService.kind),
    hosts: [...new Set([...hosts, ...services])],
  });
}

/** The proofs of some environments at the end of the forecast; without deleted ones. */
export function proofsOf({ facts }: Forecast, environments: readonly Ref[], settings: Settings): readonly ProofData[] {
  return environments.flatMap((ref) => {
    const proof = proveEnvironment(facts, ref, settings);
    return proof === undefined ? [] : [proofData(keyOf(ref), proof)];
  });
}

/** Another environment that would ask for some of the same requests. */
export interface PlannedConflict extends Omit<Conflict, 'isLater' | 'isTie' | 'firstSleeps' | 'match'> {
  /** `namespace/name` */
  readonly environment: string;
  /** As a sentence. */
  readonly text: string;
}

/** The conflicts of some environments at the end of the forecast. */
export function conflictsAmong(
  { facts }: Forecast,
  environments: readonly Ref[],
  settings: Settings,
): readonly PlannedConflict[] {
  return environments.flatMap((ref) =>
    conflictsIn(facts, keyOf(ref), settings).map((conflict) => {
      const { isLater: _later, isTie: _tie, firstSleeps: _sleeps, match: _match, ...rest } = conflict;
      return { environment: keyOf(ref), ...rest, text: messages.conflict(conflict) };
    }),
  );
}
