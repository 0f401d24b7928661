// Proves that an environment changes the routing of no other requests: compares the observed or forecast world with the
// same world without the environment. For the controller, `offshoot prove`, `offshoot plan` and the dashboard.
import { DynamicEnv } from '../../api/dynamicenv.ts';
import { defineModel } from '../../controller/index.ts';
import type { Facts, Model } from '../../controller/index.ts';
import { keyOf, refOf } from '../../kube/index.ts';
import type { Ref } from '../../kube/index.ts';
import { DEFAULT_MESH, meshSettingsIn, prove } from '../../traffic/index.ts';
import type { Proof } from '../../traffic/index.ts';
import { derive } from '../../watchable/index.ts';
import type { Lookup } from '../../watchable/index.ts';
import type { Settings } from '../settings.ts';
import { withoutEnvironments } from './shared.ts';
import type { WithoutEnvironments } from './shared.ts';
import { subjectOf } from './subject.ts';
import type { Subject } from './subject.ts';
import { worldsOf } from './worlds.ts';

/**
 * The proof of an environment from the facts of a controller or of a forecast, which may have environments that are not
 * created yet. Undefined if the environment does not exist.
 */
export function proveEnvironment(facts: Facts, environment: Ref, settings: Settings): Proof | undefined {
  const { subjects, ...shared } = facts.model(proofMaps(settings));
  const subject = facts.read.get(subjects, keyOf(environment));
  if (subject === undefined) return undefined;
  const { before, after } = worldsOf(facts, shared, subject, { ...settings, ...meshSettingsIn(facts, settings) });
  return prove(before, after, subject.proven);
}

interface ProofMaps extends WithoutEnvironments {
  /** By the keys of environments: equal until the input of a proof changes. */
  readonly subjects: Lookup<string, Subject>;
}

const models = new Map<string, Model<ProofMaps>>();

function proofMaps(settings: Settings): Model<ProofMaps> {
  const id = JSON.stringify(settings);
  let model = models.get(id);
  if (model === undefined) {
    model = defineModel((facts) => ({
      // None of these depends on the configuration of istiod.
      ...withoutEnvironments(facts, { ...DEFAULT_MESH, clusterDomain: settings.clusterDomain }),
      subjects: derive('what proofs are about', (read, key: string) => {
        const env = facts(read).get(DynamicEnv, refOf(key));
        return env && subjectOf(facts(read), env, settings);
      }),
    }));
    models.set(id, model);
  }
  return model;
}
