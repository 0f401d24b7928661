// The state of an installation: which components to apply now, and what the others wait for.
import { createHash } from 'node:crypto';
import type { Facts } from '../../controller/index.ts';
import { withAnnotations } from '../../kube/index.ts';
import type { AnyObject } from '../../kube/index.ts';
import { INSTALLED_FOR, ISTIO_NAMESPACE } from '../names.ts';
import { IstioPod, Namespace } from '../tables.ts';
import { runningVersion, versionMismatch } from '../version/running.ts';
import { byComponent, componentSteps } from './components.ts';
import type { ComponentName, ComponentSteps } from './components.ts';
import { installed, kindOf } from './kinds.ts';
import { isWorkload, owned } from './ownership.ts';
import { notReady } from './readiness.ts';
import { isEdited, isRepaired, repairs } from './repair.ts';
import type { Rendered } from './render/rendered.ts';
import type { Installable } from './target.ts';

export interface Installation extends ComponentSteps {
  /** Everything is installed and ready, in the target version. */
  readonly done: boolean;
  /** Why it is not done although all workloads are ready: pods of another version. */
  readonly mismatch?: string;
  /** The objects to apply of components that wait; see repair.ts. */
  readonly repair: readonly AnyObject[];
}

/** The state of the installation of these manifests. */
export function installationOf(facts: Facts, { before, tag }: Installable, rendered: Rendered): Installation {
  const components = byComponent(rendered.value ?? []);
  const problems = new Map([...components].map(([name, objects]) => [name, problemOf(facts, objects)]));
  const namespace = facts.get(Namespace, { name: ISTIO_NAMESPACE });
  if (namespace?.metadata.deletionTimestamp !== undefined) {
    return {
      apply: [],
      waiting: [{ component: 'Base', for: `Namespace ${ISTIO_NAMESPACE} is being deleted` }],
      done: false,
      repair: [],
    };
  }
  // During an upgrade, running components wait for each other as well: gateways are never newer than istiod.
  const isCurrent = before.tag === tag;
  const exists = (name: ComponentName): boolean => isCurrent && anyExists(facts, components.get(name) ?? []);
  const steps = componentSteps([...components.keys()], (name) => problems.get(name), exists);
  const mismatch = steps.waiting.length > 0 ? undefined : versionMismatch(runningVersion(facts.list(IstioPod)), tag);
  const done = rendered.state === 'ready' && steps.waiting.length === 0 && mismatch === undefined;
  const repair = [...components].flatMap(([name, objects]) => {
    if (before.tag === undefined || steps.apply.includes(name) || !isRepaired(name) || !anyExists(facts, objects))
      return [];
    const tags = { desired: tag, before: before.tag };
    return repairs(objects, (object) => isIntact(object, liveOf(facts, object)), tags);
  });
  return { ...steps, done, repair, ...(mismatch !== undefined && { mismatch }) };
}

/** An object as it is applied. A workload gets a hash of its manifest, which shows later whether it is outdated. */
export function desiredObject(facts: Facts, object: AnyObject): AnyObject {
  const made = owned(object, liveOf(facts, object));
  return isWorkload(made) ? withAnnotations(made, { [INSTALLED_FOR]: hashOf(made) }) : made;
}

function isIntact(desired: AnyObject, live: AnyObject | undefined): boolean {
  return live !== undefined && !isEdited(owned(desired, live), live);
}

/** The live object in the cluster. */
function liveOf(facts: Facts, object: AnyObject): AnyObject | undefined {
  return facts.get(installed(kindOf(object)), object.metadata);
}

function problemOf(facts: Facts, objects: readonly AnyObject[]): string | undefined {
  let problem: string | undefined;
  // Reads all of them, so that all their tables start at the same time.
  for (const object of objects) {
    const found = objectProblem(facts, object);
    problem ??= found;
  }
  return problem;
}

function objectProblem(facts: Facts, object: AnyObject): string | undefined {
  const kind = installed(kindOf(object));
  if (!facts.served(kind)) return `${object.kind} is not served by the API server`;
  const live = liveOf(facts, object);
  if (live !== undefined && isWorkload(object)) {
    const { [INSTALLED_FOR]: appliedFor } = live.metadata.annotations ?? {};
    const desired = desiredObject(facts, object).metadata.annotations?.[INSTALLED_FOR];
    if (appliedFor !== desired) return `${object.kind} ${object.metadata.name} is to be updated`;
  }
  return notReady(object, live);
}

function anyExists(facts: Facts, objects: readonly AnyObject[]): boolean {
  return objects.some((object) => liveOf(facts, object) !== undefined);
}

function hashOf(object: AnyObject): string {
  return createHash('sha256').update(JSON.stringify(object)).digest('hex').slice(0, 16);
}
