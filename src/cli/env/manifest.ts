// Builds the manifest of an environment from the flags of `offshoot env create`. Pure: facts about the cluster are
// passed in, and errors name the flag.
import { KEY_FORM, MAX_KEY_LENGTH } from '../../api/dynamicenv.ts';
import type { ContainerOverrides, DynamicEnv, EnvVar, IstioMatch, StringMatch, Subset } from '../../api/dynamicenv.ts';
import type { Deployment } from '../../environments/index.ts';
import { labelProblem } from '../../kube/selector.ts';
import { imageProblem, parseHeader, variableNameProblem } from '../../environments/index.ts';
import { failure, invalidFlag } from '../exit.ts';
import { isDnsLabel } from '../options.ts';
import { closestNames } from '../objects/closest-names.ts';

export interface ManifestFlags {
  readonly subset?: readonly string[];
  readonly consumer?: readonly string[];
  readonly key?: string;
  readonly header?: readonly string[];
  readonly sourceLabel?: readonly string[];
  readonly env?: readonly string[];
  readonly replicas?: number;
  readonly ttl?: string;
}

/** One `--subset` or `--consumer`. */
export interface Override {
  readonly flag: '--subset' | '--consumer';
  readonly text: string;
  readonly namespace: string;
  readonly name: string;
  /** Absent: the only container. */
  readonly container?: string;
  readonly image: string;
}

/** The base Deployment of an override, or the names of the existing Deployments if it is missing. */
export type Base = ({ readonly found: Deployment } | { readonly others: readonly string[] }) & {
  /** The manifest may be for another cluster that has the Deployment. */
  readonly isForLater?: true;
};

/** Parsed flags, validated without the cluster. */
export interface ParsedFlags {
  readonly name: string;
  readonly namespace: string;
  readonly overrides: readonly Override[];
  readonly key?: string;
  /** Absent: requests match by key only. */
  readonly match?: IstioMatch;
  readonly variables: readonly EnvVar[];
  readonly replicas?: number;
  readonly ttl?: string;
}

/** Parses the flags. The namespace of Deployments defaults to that of the environment. */
export function parseFlags(name: string, namespace: string, flags: ManifestFlags): ParsedFlags {
  if (!isDnsLabel(name)) {
    throw failure(
      'InvalidFlag',
      `NAME "${name}": it must be at most 63 lowercase letters, digits and hyphens, with no hyphen at an end`,
    );
  }
  return {
    name,
    namespace,
    overrides: parseOverrides(flags, namespace),
    ...parseRequests(flags),
    variables: parseVariables(flags.env ?? []),
    ...(flags.replicas !== undefined && { replicas: flags.replicas }),
    ...(flags.ttl !== undefined && { ttl: flags.ttl }),
  };
}

function parseOverrides(flags: ManifestFlags, namespace: string): readonly Override[] {
  const overrides = [
    ...(flags.subset ?? []).map((text) => parseOverride('--subset', text, namespace)),
    ...(flags.consumer ?? []).map((text) => parseOverride('--consumer', text, namespace)),
  ];
  if (overrides.length === 0) {
    throw failure(
      'MissingFlag',
      'name at least one Deployment with --subset deployment=image or --consumer deployment=image',
    );
  }
  for (const { flag, text, namespace: where, name } of overrides) {
    const other = overrides.find((each) => each.flag !== flag && each.name === name && each.namespace === where);
    if (other)
      throw invalidFlag(flag, text, `${where}/${name} is also given with ${other.flag}; it can be only one of the two`);
  }
  return overrides;
}

function parseOverride(flag: Override['flag'], text: string, namespace: string): Override {
  return { flag, text, namespace, ...parseTarget(flag, text) };
}

/** A container and its new image. */
export interface Target {
  /** Absent if the text has none. */
  readonly namespace?: string;
  readonly name: string;
  readonly container?: string;
  readonly image: string;
}

/** Parses `[namespace/]deployment[:container]=image`. */
export function parseTarget(flag: string, text: string): Target {
  const equals = text.indexOf('=');
  const target = equals < 0 ? text : text.slice(0, equals);
  const image = equals < 0 ? '' : text.slice(equals + 1);
  const form = 'write it as [namespace/]deployment[:container]=image, such as cart=registry.example/cart:2';
  const [, where, name, container] = /^(?:([^/:]*)\/)?([^/:]*)(?::([^/:]*))?$/.exec(target) ?? [];
  if (name === undefined) throw invalidFlag(flag, text, `"${target}" does not name a Deployment; ${form}`);
  const parts = { namespace: where, deployment: name, container };
  for (const [part, value] of Object.entries(parts)) {
    const isName = part === 'deployment' ? isDnsName : isDnsLabel;
    if (value !== undefined && !isName(value))
      throw invalidFlag(flag, text, `"${value}" can't be a ${part} name; ${form}`);
  }
  if (image === '') throw invalidFlag(flag, text, `the image is missing; ${form}`);
  const problem = imageProblem(image);
  if (problem !== undefined) throw invalidFlag(flag, text, `"${image}" can't be an image: ${problem}`);
  return {
    ...(where !== undefined && { namespace: where }),
    name,
    ...(container !== undefined && { container }),
    image,
  };
}

/** Builds the manifest. `baseOf` returns the Deployment whose containers are looked up or checked. */
export function buildManifest(flags: ParsedFlags, baseOf: (override: Override) => Base | undefined): DynamicEnv {
  const { name, namespace, key, match, ttl } = flags;
  const consumers = subsetsOf('--consumer', flags, baseOf);
  return {
    apiVersion: 'riskified.com/v1alpha1',
    kind: 'DynamicEnv',
    metadata: { name, namespace },
    spec: {
      ...(key !== undefined && { key }),
      ...(match && { istioMatches: [match] }),
      subsets: subsetsOf('--subset', flags, baseOf),
      ...(consumers.length > 0 && { consumers }),
      ...(ttl !== undefined && { ttl: { duration: ttl } }),
    },
  };
}

/** One subset per Deployment, with all its overridden containers. */
function subsetsOf(
  flag: Override['flag'],
  { overrides, variables, replicas }: ParsedFlags,
  baseOf: (override: Override) => Base | undefined,
): Subset[] {
  const subsets = new Map<string, Subset & { containers: ContainerOverrides[] }>();
  for (const override of overrides.filter((each) => each.flag === flag)) {
    const { name, namespace, image, text } = override;
    const containerName = containerOf(override, baseOf(override));
    const key = `${namespace}/${name}`;
    const subset = subsets.get(key) ?? { name, namespace, ...(replicas !== undefined && { replicas }), containers: [] };
    if (subset.containers.some((container) => container.containerName === containerName)) {
      throw invalidFlag(flag, text, `container ${containerName} of ${key} is given twice`);
    }
    subset.containers.push({ containerName, image, ...(variables.length > 0 && { env: [...variables] }) });
    subsets.set(key, subset);
  }
  return [...subsets.values()];
}

/** The requests of the environment: those with the key, and those that match. */
function parseRequests({ key, ...flags }: ManifestFlags): Pick<ParsedFlags, 'key' | 'match'> {
  if (key !== undefined && (!KEY_FORM.test(key) || key.length > MAX_KEY_LENGTH)) {
    const form = `it must be at most ${MAX_KEY_LENGTH} letters, digits, "-", "." and "_", with a letter or digit at both ends`;
    throw invalidFlag('--key', key, form);
  }
  const { header = [], sourceLabel = [] } = flags;
  const isMatch = header.length + sourceLabel.length > 0;
  if (key === undefined && !isMatch) {
    throw failure(
      'MissingFlag',
      'say which requests should reach it, with --key value, --header name=value or --source-label name=value',
    );
  }
  return { ...(key !== undefined && { key }), ...(isMatch && { match: parseMatch(flags) }) };
}

function parseMatch({ header = [], sourceLabel = [] }: ManifestFlags): IstioMatch {
  const headers: Record<string, StringMatch> = {};
  for (const text of header) {
    const parsed = parseHeader(text);
    if (parsed === undefined) {
      throw invalidFlag('--header', text, 'write it as name=value, name^=prefix or name~=regular-expression');
    }
    if (headers[parsed.name]) throw invalidFlag('--header', text, `header ${parsed.name} is given twice`);
    headers[parsed.name] = parsed.match;
  }
  const sourceLabels: Record<string, string> = {};
  for (const text of sourceLabel) {
    const [name, value] = parseLabel(text);
    if (name in sourceLabels) throw invalidFlag('--source-label', text, `label ${name} is given twice`);
    sourceLabels[name] = value;
  }
  return {
    ...(header.length > 0 && { headers }),
    ...(sourceLabel.length > 0 && { sourceLabels }),
  };
}

function parseLabel(text: string): readonly [name: string, value: string] {
  const equals = text.indexOf('=');
  const [name, value] = [text.slice(0, equals), text.slice(equals + 1)];
  if (equals < 1 || /[,=]/.test(value)) throw invalidFlag('--source-label', text, 'write it as name=value');
  const problem = labelProblem(name, value);
  if (problem !== undefined) throw invalidFlag('--source-label', text, problem);
  return [name, value];
}

function parseVariables(texts: readonly string[]): EnvVar[] {
  const variables = new Map<string, EnvVar>();
  for (const text of texts) {
    const [, name, value] = /^([^=]*)=(.*)$/s.exec(text) ?? [];
    const problem = name === undefined ? 'the value is missing' : variableNameProblem(name);
    if (name === undefined || value === undefined || problem !== undefined) {
      throw invalidFlag('--env', text, `write it as NAME=value; ${problem}`);
    }
    if (variables.has(name)) throw invalidFlag('--env', text, `${name} is given twice`);
    variables.set(name, { name, value });
  }
  return [...variables.values()];
}

/** An override with a placeholder for the container name. */
export function withContainer({ text }: Override): string {
  return text.replace('=', ':CONTAINER=');
}

function containerOf(override: Override, base: Base | undefined): string {
  const { flag, text, namespace, name, container } = override;
  if (base === undefined) return container!;
  if ('others' in base) {
    const close = closestNames(name, base.others);
    const hint =
      close.length > 0
        ? `did you mean ${close.join(' or ')}?`
        : base.others.length > 0
          ? `there are ${listed(base.others)}`
          : 'the namespace has none';
    const instead = base.isForLater
      ? `; for a cluster that has it, name the container as ${withContainer(override)}`
      : '';
    throw invalidFlag(flag, text, `there is no Deployment ${name} in namespace ${namespace}; ${hint}${instead}`);
  }
  const names = (base.found.spec.template.spec?.containers ?? []).map((each) => each.name);
  if (container === undefined) {
    const [only] = names;
    if (only !== undefined && names.length === 1) return only;
    throw invalidFlag(
      flag,
      text,
      `Deployment ${namespace}/${name} has the containers ${listed(names)}; name one as ${name}:${names[0]}=…`,
    );
  }
  if (names.includes(container)) return container;
  throw invalidFlag(
    flag,
    text,
    `Deployment ${namespace}/${name} has no container ${container}; it has ${listed(names)}`,
  );
}

function listed(names: readonly string[]): string {
  const shown = names.slice(0, 8).join(', ');
  return names.length > 8 ? `${shown} and ${names.length - 8} more` : shown;
}

function isDnsName(text: string): boolean {
  return text.length <= 253 && text.split('.').every(isDnsLabel);
}
