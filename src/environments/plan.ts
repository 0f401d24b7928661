// The plan of an environment: what to make, to change and to remove now, given what is observed. Facts are looked up,
// then it is decided what follows from them, then it is written. Routes are not written here, only wished for: see
// routes/. The controller, the command line and the tests call this.
import { DynamicEnv } from '../api/dynamicenv.ts';
import type { Plan, View } from '../controller/index.ts';
import { keyOf } from '../kube/index.ts';
import { decide } from './decide.ts';
import { eventsOf } from './events.ts';
import { factsOf } from './facts.ts';
import { identify } from './identity.ts';
import { lifetimeOf, planExpiry, withLifetime } from './lifecycle/ttl.ts';
import { refusalKey } from './routes/refusals.ts';
import type { RouteRefusals } from './routes/refusals.ts';
import { settingsFor } from './settings.ts';
import type { Settings } from './settings.ts';
import { statusOfRefusal } from './status.ts';
import { writeDeletion, writeEnvironment } from './write.ts';

/** Plans one environment. `refusals` tells which of its wishes the server has refused. */
export function planEnvironment(view: View, env: DynamicEnv, settings: Settings, refusals?: RouteRefusals): Plan {
  const now = view.now();
  const isDeleted = env.metadata.deletionTimestamp !== undefined;
  const lifetime = isDeleted ? undefined : lifetimeOf(env, now);
  if (lifetime === undefined) return planLife(view, env, settings, refusals);
  const undeletable = view.refusal(DynamicEnv, env.metadata);
  if (lifetime.expiresAt <= now && undeletable === undefined) return planExpiry(env);
  return withLifetime(planLife(view, env, settings, refusals), env, lifetime, now, undeletable);
}

/** The plan of an environment whose time is not over, or that is on its way out. */
function planLife(view: View, env: DynamicEnv, general: Settings, refusals: RouteRefusals | undefined): Plan {
  const settings = settingsFor(env, general);
  const { owner, refusal } = identify(view, env, settings);
  const isDeleted = env.metadata.deletionTimestamp !== undefined;
  if (refusal !== undefined && !isDeleted) {
    const status = statusOfRefusal(env, refusal, settings);
    return { status, events: eventsOf(env, status) };
  }
  const facts = factsOf(view, env, owner, settings, {
    makes: !isDeleted,
    refusal: view.refusal,
    routeRefusal: (service) => refusals && view.read.get(refusals, refusalKey(service, keyOf(env.metadata)))?.message,
  });
  if (isDeleted) return writeDeletion(view, facts, refusal?.reason === 'NameCollision', settings);
  return writeEnvironment(view, facts, decide(facts, settings), settings);
}
