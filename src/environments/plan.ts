// The plan of an environment: what to make, to edit and to remove now, given what is observed. Facts are looked up, then
// it is decided what follows from them, then it is written. The controller, the command line and the tests call this.
import type { DynamicEnv } from '../api/dynamicenv.ts';
import type { Plan, View } from '../controller/index.ts';
import { keyOf } from '../kube/index.ts';
import { decide } from './decide.ts';
import { eventsOf } from './events.ts';
import { factsOf } from './facts.ts';
import { findSameVersion } from './lookup.ts';
import { messages } from './messages.ts';
import { uniqueVersion } from './names.ts';
import { ownerOf, shareNamespace } from './ownership.ts';
import type { Settings } from './settings.ts';
import type { Refusal } from './conditions.ts';
import { statusOfRefusal } from './status.ts';
import { writeDeletion, writeEnvironment } from './write.ts';

/** Plans one environment. */
export function planEnvironment(view: View, env: DynamicEnv, settings: Settings): Plan {
  const sameVersion = findSameVersion(view, env);
  const refusal = refused(env, sameVersion);
  const owner = ownerOf(env, sameVersion);
  if (env.metadata.deletionTimestamp !== undefined) {
    const facts = factsOf(view, env, owner, settings, false);
    return writeDeletion(facts, refusal?.reason === 'NameCollision', view.now(), settings);
  }
  if (refusal !== undefined) {
    const status = statusOfRefusal(env, refusal);
    return { status, events: eventsOf(env, status) };
  }
  const facts = factsOf(view, env, owner, settings, true);
  return writeEnvironment(facts, decide(facts, settings), view.now(), settings);
}

/** Why an environment can't be made at all: its names would be those of another one, or no valid names. */
function refused(env: DynamicEnv, sameVersion: readonly DynamicEnv[]): Refusal | undefined {
  const version = uniqueVersion(env.metadata);
  if (!/^[A-Za-z0-9]([-A-Za-z0-9]*[A-Za-z0-9])?$/.test(version)) {
    return { reason: 'InvalidName', message: messages.invalidName(version) };
  }
  // Environments of one version that have nothing to do in the same namespace can't take anything from each other.
  const other = sameVersion.find((each) => isOlder(each, env) && shareNamespace(each, env));
  if (other === undefined) return undefined;
  return {
    reason: 'NameCollision',
    message: messages.collision(keyOf(other.metadata), keyOf(env.metadata), version),
  };
}

/**
 * Which of two environments was there first. Times are whole seconds: of two that came in the same one, it is the one
 * that has something already, then the one whose key comes first.
 */
function isOlder(a: DynamicEnv, b: DynamicEnv): boolean {
  const order = ({ metadata, status }: DynamicEnv): string => {
    const entries = { ...status?.subsetsStatus, ...status?.consumersStatus };
    return `${metadata.creationTimestamp ?? ''} ${Object.keys(entries).length > 0 ? 0 : 1} ${keyOf(metadata)}`;
  };
  return order(a) < order(b);
}
