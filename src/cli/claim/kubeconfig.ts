// `offshoot claim kubeconfig`: prints a kubeconfig for the target of a claim.
import type { DeploymentTargetClaim } from '../../api/targets.ts';
import type { Client } from '../../kube/client/client.ts';
import { keyOf } from '../../kube/objects.ts';
import { brokenOf, phaseOf, problemOf, Secret, targetOf, warningsOf } from '../../targets/index.ts';
import { CLAIM } from './nouns.ts';
import { failure } from '../exit.ts';
import { getByName } from '../objects/find.ts';
import { kubeconfigForClaim } from '../kubeconfig/of-claim.ts';
import { withConnection } from '../options.ts';
import type { ClusterOptions } from '../options.ts';
import { fetchFor } from '../objects/fetch.ts';

const KEY = 'kubeconfig';

/** Prints the kubeconfig of a bound claim. */
export function printKubeconfig(name: string, options: ClusterOptions): Promise<void> {
  return withConnection(options, async ({ client, namespace, config }) => {
    const claim = await getByName(client, CLAIM, { name, namespace });
    const text = kubeconfigForClaim(await kubeconfigOf(client, claim), keyOf(claim.metadata), config);
    for (const warning of warningsOf(claim)) console.error(`warning: claim ${keyOf(claim.metadata)}: ${warning}`);
    process.stdout.write(text.endsWith('\n') ? text : `${text}\n`);
  });
}

async function kubeconfigOf(client: Client, claim: DeploymentTargetClaim): Promise<string> {
  const { name, namespace } = claim.metadata;
  const about = `claim ${keyOf(claim.metadata)}`;
  const hint = `"offshoot claim describe ${name} -n ${namespace}" shows why`;
  const phase = phaseOf(claim);
  if (phase !== 'Bound') {
    const problem = problemOf(claim);
    throw failure(
      'NotReady',
      `${about} is not bound but ${phase}${problem === undefined ? `; ${hint}` : `: ${problem}`}`,
    );
  }
  const target = await fetchFor(client, (read) => targetOf(read, claim));
  if (target === undefined)
    throw failure('NotFound', `the target ${claim.spec.targetName ?? ''} of ${about} is gone; ${hint}`);
  const { clusterCredentialsSecret: secretName } = target.spec.kubernetesCredentials;
  const targetText = `target ${keyOf(target.metadata)}`;
  if (secretName === '')
    throw failure(
      'NoCredentials',
      `${targetText} names no Secret: set spec.kubernetesCredentials.clusterCredentialsSecret`,
    );
  const secret = await secretOf(client, { name: secretName, namespace: namespace! });
  if (secret === undefined) {
    // If the place is gone too, another Secret does not help.
    const broken = brokenOf(claim);
    if (broken !== undefined && !broken.startsWith('SecretNotFound')) {
      throw failure('NotReady', `${about} can't be used: ${broken}`);
    }
    throw failure(
      'NoCredentials',
      `there is no Secret ${namespace}/${secretName}, which ${targetText} names: make it, with a key ${KEY}`,
    );
  }
  const encoded = secret.data?.[KEY] ?? '';
  const text = Buffer.from(encoded, 'base64').toString('utf8');
  if (text.trim() !== '') return text;
  const keys = Object.keys(secret.data ?? {}).filter((key) => key !== KEY);
  const found = encoded === '' && keys.length > 0 ? `; it has ${keys.join(', ')}` : '';
  throw failure(
    'NoCredentials',
    `Secret ${namespace}/${secretName} of ${targetText} has nothing under the key ${KEY}${found}`,
  );
}

async function secretOf(client: Client, ref: { name: string; namespace: string }): Promise<Secret | undefined> {
  const secret = await fetchFor(client, (read) => read.get(Secret, ref));
  if (secret !== 'hidden') return secret;
  throw failure(
    'Forbidden',
    `you may not read Secret ${keyOf(ref)}, which has the kubeconfig: ask for permission to get it`,
  );
}
