import { expect, test } from 'vitest';
import { checkManifests } from './check.ts';
import type { Check } from './check.ts';
import { claimChecks } from '../claim/checks.ts';
import { environmentCheck } from '../env/check.ts';

const good = `apiVersion: riskified.com/v1alpha1
kind: DynamicEnv
metadata:
  name: blue
spec:
  istioMatches:
    - headers:
        x-env:
          exact: blue
  subsets:
    - name: details
      namespace: shop
      containers:
        - containerName: app
          image: d:2
`;

/** Findings as printed. */
function found(...texts: string[]): string[] {
  return findingsOf(texts, [environmentCheck]);
}

function findingsOf(texts: readonly string[], checks: readonly Check[]): string[] {
  const files = texts.map((text, index) => [`${index + 1}.yaml`, text] as const);
  return checkManifests(files, 'shop', checks).findings.map(
    ({ source, line, column, message, isWarning }) =>
      `${source}:${line}:${column}: ${isWarning ? 'warning: ' : ''}${message}`,
  );
}

test('a valid manifest has no findings, and its namespace defaults to the given one', () => {
  expect(checkManifests([['a.yaml', good]], 'shop', [environmentCheck])).toEqual({
    findings: [],
    valid: ['dynamicenv/shop/blue'],
  });
});

test.each<[string, string, string, string]>([
  [
    'a violated rule',
    '          image: d:2\n',
    '          image: d:2\n      replicas: 0\n',
    `1.yaml:16:7: spec: Invalid value: {"istioMatches":[{"headers":{"x-env":{"exact":"blue"}}}],"subsets":[{"name":"details","namespace":"shop","replicas":0,"containers":[{"containerName":"app","image":"d:2"}]}]}: It's illegal to use 0 replicas!`,
  ],
  [
    'a header with two forms',
    'exact: blue',
    'exact: blue\n          regex: b.*',
    '1.yaml:8:9: spec.istioMatches[0].headers[x-env]: must have exactly one of exact, prefix and regex, and has 2',
  ],
  [
    'an empty regular expression',
    'exact: blue',
    "regex: ''",
    '1.yaml:9:11: spec.istioMatches[0].headers[x-env].regex: must not be empty',
  ],
  [
    'a header without a form',
    'x-env:\n          exact: blue',
    'x-env: {}',
    '1.yaml:8:9: spec.istioMatches[0].headers[x-env]: must have exactly one of exact, prefix and regex, and has 0',
  ],
  [
    'a regular expression that no proxy accepts',
    'exact: blue',
    'regex: b(?=l)',
    '1.yaml:9:11: spec.istioMatches[0].headers[x-env].regex: Invalid value: "b(?=l)": not valid RE2 (invalid or unsupported Perl syntax: `(?=`): write it in the syntax of https://github.com/google/re2/wiki/Syntax',
  ],
  [
    'a field of the wrong type',
    'image: d:2',
    'image: 2',
    '1.yaml:15:11: spec.subsets[0].containers[0].image: must be a string, and is 2: put it in quotes',
  ],
  [
    'a word that YAML reads as a boolean',
    'exact: blue',
    'exact: on',
    '1.yaml:9:11: spec.istioMatches[0].headers.x-env.exact: must be a string, and is true: put it in quotes',
  ],
  [
    'a ttl that is not an object',
    'spec:\n',
    'spec:\n  ttl: 8h\n',
    '1.yaml:6:3: spec.ttl: must be an object: {duration: 8h}, found "8h"',
  ],
  [
    'an invalid duration',
    'spec:\n',
    'spec:\n  ttl: {duration: 8 hours}\n',
    '1.yaml:6:9: spec.ttl.duration: must be days, hours, minutes and seconds, such as 2d or 1h30m, found "8 hours"',
  ],
  [
    'a list instead of an object',
    good,
    '- kind: DynamicEnv\n',
    '1.yaml:1:1: an object is a mapping of fields, and this is a list: write its items as documents, with --- between them',
  ],
  [
    'a missing field, at its parent',
    '      namespace: shop\n',
    '',
    '1.yaml:11:7: spec.subsets[0].namespace: Required value',
  ],
  [
    'an unknown field',
    'image: d:2',
    'imgae: d:2',
    '1.yaml:15:11: unknown field "spec.subsets[0].containers[0].imgae"; did you mean image?',
  ],
  ['an unknown field beside spec', 'spec:', 'specs: {}\nspec:', '1.yaml:5:1: unknown field "specs"'],
  ['a missing name', 'name: blue', 'labels: {}', '1.yaml:3:1: metadata.name: Required value'],
  [
    'another version',
    'riskified.com/v1alpha1',
    'riskified.com/v1',
    '1.yaml:1:1: apiVersion: must be riskified.com/v1alpha1',
  ],
  [
    'a name that gives an invalid subset name',
    'name: blue',
    'name: blue.green',
    '1.yaml:4:3: metadata.name: Invalid value: "blue.green": "shop-blue.green", made from namespace and name, is not a valid subset name: use letters, digits and hyphens, and no hyphen as the 40th character',
  ],
  ['a missing spec', good.slice(good.indexOf('spec:')), '', '1.yaml:1:1: spec: Required value'],
  ['invalid YAML', 'name: blue', 'name: "blue', '1.yaml:16:1: a quote (") is not closed'],
])('checkManifests reports %s', (_name, text, replacement, finding) => {
  expect(good).toContain(text);
  expect(found(good.replace(text, replacement))).toEqual([finding]);
});

test('checkManifests reports all findings of all documents, also in lists, and skips other kinds', () => {
  const list = `apiVersion: v1
kind: List
items:
  - apiVersion: v1
    kind: Service
    metadata: {name: s}
  - apiVersion: riskified.com/v1alpha1
    kind: DynamicEnv
    metadata: {name: red}
    spec: {istioMatches: [], subsets: []}
`;
  const twice = `${good}---\n${good.replace('name: blue', 'name: green').replace('      namespace: shop\n', '')}`;
  expect(found(`${twice}---\n# nothing here\n`, list)).toEqual([
    '1.yaml:27:7: spec.subsets[0].namespace: Required value',
    '2.yaml:10:12: spec: Invalid value: []: empty IstioMatch is invalid for DynamicEnv',
  ]);
});

test('checkManifests reports missing, mistyped and unknown fields and violated rules in one run', () => {
  const wrong = good
    .replace('      namespace: shop', '      namespase: shop')
    .replace('exact: blue', 'regex: b(?=l)')
    .replace('image: d:2', 'image: 2');
  expect(found(wrong)).toEqual([
    '1.yaml:11:7: spec.subsets[0].namespace: Required value',
    '1.yaml:15:11: spec.subsets[0].containers[0].image: must be a string, and is 2: put it in quotes',
    '1.yaml:12:7: unknown field "spec.subsets[0].namespase"; did you mean namespace?',
    expect.stringContaining(
      '1.yaml:9:11: spec.istioMatches[0].headers[x-env].regex: Invalid value: "b(?=l)": not valid RE2',
    ),
  ]);
});

test('checkManifests reports two environments whose names collide', () => {
  const other = good.replace('name: blue', 'name: a-b\n  namespace: team');
  const same = good.replace('name: blue', 'name: b\n  namespace: team-a');
  expect(found(other, same)).toEqual([
    '2.yaml:4:3: metadata.name: Invalid value: "b": environments team/a-b and team-a/b would both be named "team-a-b": rename one of them',
  ]);
});

const targetManifests = `apiVersion: appstudio.redhat.com/v1alpha1
kind: DeploymentTargetClass
metadata: {name: preview}
spec:
  provisioner: offshoot.dev/namespace
  reclaimPolicy: Delete
  parameters:
    warm: 2
---
apiVersion: appstudio.redhat.com/v1alpha1
kind: DeploymentTargetClaim
metadata: {name: staging}
spec:
  deploymentTargetClassName: preview
  ttl: 2d
---
apiVersion: appstudio.redhat.com/v1alpha1
kind: DeploymentTarget
metadata: {name: ours}
spec:
  deploymentTargetClassName: ""
  claimRef: {name: prod}
  kubernetesCredentials: {apiURL: https://api.test, defaultNamespace: "", clusterCredentialsSecret: access}
---
apiVersion: appstudio.redhat.com/v1alpha1
kind: Environment
metadata: {name: prod, namespace: team}
spec:
  displayName: Production
  deploymentStrategy: Manual
`;

test('checkManifests checks claims, targets, classes and Environments by kind', () => {
  expect(checkManifests([['a.yaml', targetManifests]], 'shop', claimChecks)).toEqual({
    findings: [],
    valid: [
      'deploymenttargetclass/preview',
      'deploymenttargetclaim/shop/staging',
      'deploymenttarget/shop/ours',
      'environment/team/prod',
    ],
  });
  expect(checkManifests([['a.yaml', targetManifests]], 'shop', [environmentCheck])).toEqual({
    findings: [],
    valid: [],
  });
});

test.each<[string, string, string, string]>([
  ['a ttl', 'ttl: 2d', 'ttl: 2 days', '1.yaml:15:3: spec.ttl: Invalid value: "2 days": must be a duration'],
  ['a claimRef', '{name: prod}', '[prod]', '1.yaml:22:3: spec.claimRef: Invalid value: ["prod"]: must be the name'],
  [
    'a field of a claimRef',
    '{name: prod}',
    '{name: prod, uid: a}',
    '1.yaml:22:26: spec.claimRef.uid: is not a known field',
  ],
  ['a parameter', 'warm: 2', 'wram: 2', '1.yaml:8:5: spec.parameters.wram: is not known here'],
  ['a name', 'name: prod, namespace', 'name: Prod, namespace', '1.yaml:27:12: invalid environment name: Prod, an'],
  ['an enum', 'reclaimPolicy: Delete', 'reclaimPolicy: Keep', '1.yaml:6:3: spec.reclaimPolicy: Invalid option'],
  [
    'a warning',
    'ClassName: preview',
    'ClassName: Preview',
    '1.yaml:14:3: warning: spec.deploymentTargetClassName: "Preview" is not a valid name for a class',
  ],
  ['a missing field', '  displayName: Production\n', '', '1.yaml:28:1: spec.displayName: Required value'],
])('checkManifests reports %s of targets and claims', (_name, text, replacement, finding) => {
  expect(targetManifests).toContain(text);
  expect(findingsOf([targetManifests.replace(text, replacement)], claimChecks)).toEqual([
    expect.stringContaining(finding),
  ]);
});
