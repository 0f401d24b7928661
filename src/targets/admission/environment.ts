// The rules for environments. Texts and their order are those that people and their tools know: the first rule that is
// broken ends the check.
import type { Environment } from '../../api/targets.ts';
import { jsonEqual } from '../../watchable/index.ts';
import { isDnsLabel, isDnsSubdomain, nameWarnings, warning } from './problem.ts';
import type { FieldPath, Problem } from './problem.ts';
import { requestUriError } from './request-uri.ts';

const DIRECT = ['spec', 'unstableConfigurationFields'];
const CREDENTIALS = [...DIRECT, 'kubernetesCredentials'];
const CLAIM_NAME = ['spec', 'configuration', 'target', 'deploymentTargetClaim', 'claimName'];

/** What is wrong with an environment that is created, or changed from what it was. */
export function environmentProblems(environment: Environment, old?: Environment): readonly Problem[] {
  if (old !== undefined && jsonEqual(old.spec, environment.spec)) return [];
  const refusal = (old === undefined ? nameRefusal(environment) : undefined) ?? specRefusal(environment);
  return [...(refusal === undefined ? [] : [refusal]), ...warnings(environment)];
}

function nameRefusal({ metadata: { name } }: Environment): Problem | undefined {
  if (isDnsLabel(name)) return undefined;
  return worded(
    ['metadata', 'name'],
    `invalid environment name: ${name}, an environment resource name must start with a lower case alphabetical character, be under 63 characters, and can only consist of lower case alphanumeric characters or ‘-’`,
  );
}

function specRefusal({ spec }: Environment): Problem | undefined {
  const { clusterType, kubernetesCredentials } = spec.unstableConfigurationFields ?? {};
  const { ingressDomain = '', apiURL = '' } = kubernetesCredentials ?? {};
  if (clusterType === 'Kubernetes' && ingressDomain === '') {
    return worded([...CREDENTIALS, 'ingressDomain'], 'ingress domain cannot be empty if cluster is of type Kubernetes');
  }
  if (ingressDomain !== '' && !isDnsSubdomain(ingressDomain)) {
    return worded(
      [...CREDENTIALS, 'ingressDomain'],
      `invalid ingress domain: "${ingressDomain}": an ingress domain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character`,
    );
  }
  const error = apiURL === '' ? undefined : requestUriError(apiURL);
  if (error === undefined) return undefined;
  // The space at the end belongs to the text.
  return worded(
    [...CREDENTIALS, 'apiURL'],
    `${error}: API URL must be an absolute URL starting with an 'https' scheme `,
  );
}

/** What the controller will say in the status. */
function warnings({ spec }: Environment): Problem[] {
  const claimName = spec.configuration?.target?.deploymentTargetClaim.claimName ?? '';
  const isBoth = claimName !== '' && spec.unstableConfigurationFields !== undefined;
  return [
    ...(isBoth
      ? [warning(DIRECT, 'an Environment with a claim gets its credentials from the claim: remove one of the two')]
      : []),
    ...nameWarnings(CLAIM_NAME, claimName, 'claim'),
  ];
}

/** A refusal whose text is contract, to the letter. */
function worded(at: FieldPath, message: string): Problem {
  return { at, message };
}
