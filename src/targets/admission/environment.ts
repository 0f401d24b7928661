// The admission rules for Environments. Messages and their order are contract: only the first broken rule is reported.
import type { Environment } from '../../api/targets.ts';
import { jsonEqual } from '../../watchable/index.ts';
import { isDnsLabel, isDnsSubdomain, nameWarnings, warning } from './problem.ts';
import type { FieldPath, Problem } from './problem.ts';
import { requestUriError } from './request-uri.ts';

const UNSTABLE_FIELDS = ['spec', 'unstableConfigurationFields'];
const CREDENTIALS = [...UNSTABLE_FIELDS, 'kubernetesCredentials'];
const CLAIM_NAME = ['spec', 'configuration', 'target', 'deploymentTargetClaim', 'claimName'];

/** Problems of an Environment that is created or, with `old`, updated. */
export function environmentProblems(environment: Environment, old?: Environment): readonly Problem[] {
  if (old !== undefined && jsonEqual(old.spec, environment.spec)) return [];
  const refusal = (old === undefined ? nameRefusal(environment) : undefined) ?? specRefusal(environment);
  return [...(refusal === undefined ? [] : [refusal]), ...warnings(environment)];
}

function nameRefusal({ metadata: { name } }: Environment): Problem | undefined {
  if (isDnsLabel(name)) return undefined;
  return verbatim(
    ['metadata', 'name'],
    `invalid environment name: ${name}, an environment resource name must start with a lower case alphabetical character, be under 63 characters, and can only consist of lower case alphanumeric characters or ‘-’`,
  );
}

function specRefusal({ spec }: Environment): Problem | undefined {
  const { clusterType, kubernetesCredentials } = spec.unstableConfigurationFields ?? {};
  const { ingressDomain = '', apiURL = '' } = kubernetesCredentials ?? {};
  if (clusterType === 'Kubernetes' && ingressDomain === '') {
    return verbatim(
      [...CREDENTIALS, 'ingressDomain'],
      'ingress domain cannot be empty if cluster is of type Kubernetes',
    );
  }
  if (ingressDomain !== '' && !isDnsSubdomain(ingressDomain)) {
    return verbatim(
      [...CREDENTIALS, 'ingressDomain'],
      `invalid ingress domain: "${ingressDomain}": an ingress domain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character`,
    );
  }
  const error = apiURL === '' ? undefined : requestUriError(apiURL);
  if (error === undefined) return undefined;
  // The trailing space is part of the contract.
  return verbatim(
    [...CREDENTIALS, 'apiURL'],
    `${error}: API URL must be an absolute URL starting with an 'https' scheme `,
  );
}

/** What the controller will report in the status. */
function warnings({ spec }: Environment): Problem[] {
  const claimName = spec.configuration?.target?.deploymentTargetClaim.claimName ?? '';
  const isBoth = claimName !== '' && spec.unstableConfigurationFields !== undefined;
  return [
    ...(isBoth
      ? [
          warning(
            UNSTABLE_FIELDS,
            'an Environment with a claim gets its credentials from the claim: remove one of the two',
          ),
        ]
      : []),
    ...nameWarnings(CLAIM_NAME, claimName, 'claim'),
  ];
}

/** A refusal whose message is contract, to the letter. */
function verbatim(at: FieldPath, message: string): Problem {
  return { at, message };
}
