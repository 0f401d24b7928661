// The plan of an environment: what to create, change and delete now, from what is observed. Three stages: look up the
// facts, decide, write. Routes are not written here, only wished for: see routes/. Called by the controller, the
// command line and the tests.
//
// All reads are made by three functions that are called here. `decide` and the write stage have no view to read from:
// 1. `identify`: which other environments have the same version. A refused environment reads nothing else.
// 2. `factsOf`: the objects that the decisions depend on. The wishes for routes are decided from the same facts.
// 3. `verdictsOf`: the proof and the conflicts, which no decision depends on. They are for the status alone, and a
//    proof is expensive: it is not read while the status still waits for routes.
import { DynamicEnv } from '../api/dynamicenv.ts';
import type { Plan, View } from '../controller/index.ts';
import { keyOf } from '../kube/index.ts';
import { conflictsIn } from './requests/conflicts.ts';
import { decide } from './decide.ts';
import { eventsOf } from './status/events.ts';
import { factsOf } from './facts.ts';
import { identify } from './identity/identity.ts';
import { lifetimeOf, planExpiry, withLifetime } from './lifecycle/ttl.ts';
import { isolatedIn } from './proofs/isolated.ts';
import { refusalKey } from './routes/refusals.ts';
import type { RouteRefusals } from './routes/refusals.ts';
import { settingsFor } from './settings.ts';
import type { Settings } from './settings.ts';
import { statusOfRefusal } from './status/status.ts';
import { writeDeletion, writeEnvironment } from './write.ts';
import type { Verdicts } from './write.ts';

/** Plans one environment. `refusals` has the wishes that the server refused. */
export function planEnvironment(view: View, env: DynamicEnv, settings: Settings, refusals?: RouteRefusals): Plan {
  const isDeleted = env.metadata.deletionTimestamp !== undefined;
  const lifetime = isDeleted ? undefined : lifetimeOf(env, view.now());
  if (lifetime === undefined) return planUnexpired(view, env, settings, refusals);
  const undeletable = view.refusal(DynamicEnv, env.metadata);
  if (view.untilExpiry(lifetime.expiresAt) <= 0 && undeletable === undefined) return planExpiry(env);
  return withLifetime(planUnexpired(view, env, settings, refusals), env, lifetime, view, undeletable);
}

/** The plan of an environment that has not expired, or is being deleted. */
function planUnexpired(view: View, env: DynamicEnv, general: Settings, refusals: RouteRefusals | undefined): Plan {
  const settings = settingsFor(env, general);
  const { owner, refusal } = identify(view, env, settings);
  const isDeleted = env.metadata.deletionTimestamp !== undefined;
  if (refusal !== undefined && !isDeleted) {
    const status = statusOfRefusal(env, refusal, settings);
    return { status, events: eventsOf(env, status) };
  }
  const facts = factsOf(view, env, owner, settings, {
    lookUpDesired: !isDeleted,
    refusal: view.refusal,
    routeRefusal: (service) => refusals && view.read.get(refusals, refusalKey(service, keyOf(env.metadata)))?.message,
  });
  if (isDeleted) return writeDeletion(view, facts, refusal?.reason === 'NameCollision', settings);
  return writeEnvironment(view, facts, decide(facts, settings), () => verdictsOf(view, env, settings), settings);
}

function verdictsOf(view: View, { metadata }: DynamicEnv, settings: Settings): Verdicts {
  return {
    isolated: isolatedIn(view, metadata, settings),
    conflicts: conflictsIn(view, keyOf(metadata), settings),
  };
}
