// `offshoot claim create`: checks the flags, creates the claim, and waits for its target with --wait.
import { DeploymentTargetClaim } from '../../api/targets.ts';
import type { DeploymentTarget, DeploymentTargetClass } from '../../api/targets.ts';
import type { Client } from '../../kube/client/client.ts';
import { isForbidden } from '../../kube/errors.ts';
import { keyOf } from '../../kube/objects.ts';
import { claimNameOf, phaseOf, REQUESTED_NAMESPACE, SELECTOR } from '../../targets/index.ts';
import { CLAIM, CLASS, TARGET } from './nouns.ts';
import { waitBound } from './wait.ts';
import { failure, invalidFlag } from '../exit.ts';
import { findByName, suggestionFor, listOfKind } from '../objects/find.ts';
import { withConnection, isDnsLabel } from '../options.ts';
import type { ClusterOptions, Connection, DryRun } from '../options.ts';
import { objectPrinter } from '../terminal/output.ts';
import type { OutputFormat } from '../terminal/output.ts';

export interface ClaimCreateOptions extends ClusterOptions {
  readonly class?: string;
  readonly target?: string;
  readonly ttl?: string;
  readonly requestedNamespace?: string;
  readonly selector?: string;
  readonly output?: OutputFormat;
  readonly dryRun: DryRun;
  readonly wait?: boolean;
  readonly timeout: number;
}

export async function createClaim(name: string, options: ClaimCreateOptions): Promise<void> {
  if (!isDnsLabel(name)) throw invalidFlag('NAME', name, 'a name is at most 63 lowercase letters, digits and hyphens');
  // A client dry run needs no cluster if the class is given.
  if (options.dryRun === 'client' && options.class !== undefined) {
    const { namespaceWithoutCluster } = await import('../objects/cluster-hint.ts');
    const manifest = manifestOf(name, namespaceWithoutCluster(options), options.class, options);
    return print(manifest, options, 'created (dry run)');
  }
  return withConnection(options, async (connection) => {
    const { client, namespace } = connection;
    const { className, ofClass } = await chooseClass(name, options, connection);
    const manifest = manifestOf(name, namespace, className, options);
    if (options.dryRun === 'client') return print(manifest, options, 'created (dry run)');
    const before = await findByName(client, CLAIM, { name, namespace });
    if (before !== undefined) refuseDifferent(before, manifest);
    const claim = before ?? (await create(client, manifest, options.dryRun === 'server'));
    const word = before === undefined ? 'created' : 'unchanged';
    print(claim, options, options.dryRun === 'server' ? `${word} (server dry run)` : word);
    if (options.wait && options.dryRun === 'none') await waitBound(client, claim, ofClass, options.timeout);
  });
}

interface ChosenClass {
  readonly className: string;
  readonly ofClass: DeploymentTargetClass | undefined;
}

/** The class that the flags select; throws if the class or the target can't be used. */
async function chooseClass(
  name: string,
  options: ClaimCreateOptions,
  { client, namespace }: Connection,
): Promise<ChosenClass> {
  const classes = await classesOf(client);
  const target = options.target === undefined ? undefined : await targetFor(client, options.target, namespace);
  const className = options.class ?? target?.spec.deploymentTargetClassName;
  if (className === undefined) {
    const known = classes?.map(({ metadata }) => metadata.name) ?? [];
    const offer = known.length === 0 ? 'name one' : `name one of ${known.join(', ')}`;
    throw failure('MissingFlag', `--class is missing: ${offer}, or "" for a target created by hand`);
  }
  const ofClass = classes?.find(({ metadata }) => metadata.name === className);
  if (options.class !== undefined && className !== '' && classes !== undefined && ofClass === undefined) {
    throw invalidFlag(
      '--class',
      className,
      `there is no class with this name; ${suggestionFor(CLASS, className, classes)}`,
    );
  }
  if (target !== undefined) refuseMismatch(name, className, target);
  return { className, ofClass };
}

/** All classes; undefined if the user may not list them. */
async function classesOf(client: Client): Promise<readonly DeploymentTargetClass[] | undefined> {
  try {
    return await listOfKind(client, CLASS, {});
  } catch (error) {
    if (isForbidden(error)) return undefined;
    throw error;
  }
}

async function targetFor(client: Client, target: string, namespace: string): Promise<DeploymentTarget> {
  const found = target === '' ? undefined : await findByName(client, TARGET, { name: target, namespace });
  if (found !== undefined) return found;
  const hint = suggestionFor(TARGET, target, await listOfKind(client, TARGET, { namespace }));
  throw invalidFlag('--target', target, `there is no target with this name in namespace ${namespace}; ${hint}`);
}

/** Throws for problems that the controller would report only after the claim is created. */
function refuseMismatch(name: string, className: string, target: DeploymentTarget): void {
  const refuse = (problem: string): never => {
    throw invalidFlag('--target', target.metadata.name, problem);
  };
  const phase = phaseOf(target);
  const holder = claimNameOf(target);
  if (holder !== '' && holder !== name) refuse(`it is taken by claim ${holder}; choose another, or delete that claim`);
  if (phase === 'Deleting') refuse('it is being deleted; choose another');
  // A target reserved for this claim is bound even if class or phase differ.
  if (holder === name) return;
  if (phase !== 'Available' && phase !== 'Pending') refuse(`it is ${phase}; choose one that is Available`);
  const itsClass = target.spec.deploymentTargetClassName;
  if (itsClass !== className) refuse(`it is of class "${itsClass}", not "${className}"; leave out --class to take it`);
}

function manifestOf(
  name: string,
  namespace: string,
  className: string,
  { target, ttl, requestedNamespace, selector }: ClaimCreateOptions,
): DeploymentTargetClaim {
  const annotations = {
    ...(requestedNamespace !== undefined && { [REQUESTED_NAMESPACE]: requestedNamespace }),
    ...(selector !== undefined && { [SELECTOR]: selector }),
  };
  return {
    apiVersion: 'appstudio.redhat.com/v1alpha1',
    kind: 'DeploymentTargetClaim',
    metadata: { name, namespace, ...(Object.keys(annotations).length > 0 && { annotations }) },
    spec: {
      deploymentTargetClassName: className,
      ...(target !== undefined && { targetName: target }),
      ...(ttl !== undefined && { ttl }),
    },
  };
}

/** Throws if a different claim with this name exists. The target that it was bound to may differ. */
function refuseDifferent({ metadata, spec }: DeploymentTargetClaim, requested: DeploymentTargetClaim): void {
  const about = `claim ${keyOf(metadata)}`;
  if (metadata.deletionTimestamp !== undefined) {
    throw failure('BeingDeleted', `${about} is being deleted: wait until it is gone, or choose another name`);
  }
  const isSame =
    requested.spec.deploymentTargetClassName === spec.deploymentTargetClassName &&
    [undefined, spec.targetName].includes(requested.spec.targetName) &&
    requested.spec.ttl === spec.ttl &&
    [REQUESTED_NAMESPACE, SELECTOR].every(
      (key) => requested.metadata.annotations?.[key] === metadata.annotations?.[key],
    );
  if (!isSame)
    throw failure('AlreadyExists', `${about} already exists and is different: choose another name, or delete it first`);
}

function create(client: Client, manifest: DeploymentTargetClaim, dryRun: boolean): Promise<DeploymentTargetClaim> {
  return client.create(DeploymentTargetClaim, manifest, {
    fieldManager: 'offshoot-cli',
    fieldValidation: 'Strict',
    dryRun,
  });
}

function print(claim: DeploymentTargetClaim, { output }: ClaimCreateOptions, outcome: string): void {
  const printer = objectPrinter(output);
  printer.print(claim, outcome);
  printer.end();
}
