// `offshoot claim create`: checks what the flags ask for, makes the claim, and waits for its target if asked to.
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

/** Creates a claim. */
export async function createClaim(name: string, options: ClaimCreateOptions): Promise<void> {
  if (!isDnsLabel(name)) throw invalidFlag('NAME', name, 'a name is at most 63 lowercase letters, digits and hyphens');
  // A manifest for later needs no cluster, as long as nothing must be looked up for it.
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
    if (before !== undefined) refuseOther(before, manifest);
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

/** The class that the flags ask for, after a look at whether it and the target can be had. */
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

/** All classes; undefined where they may not be read, and only the controller can tell. */
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

/** What the controller would only say after the claim is made. */
function refuseMismatch(name: string, className: string, target: DeploymentTarget): void {
  const refuse = (problem: string): never => {
    throw invalidFlag('--target', target.metadata.name, problem);
  };
  const phase = phaseOf(target);
  const holder = claimNameOf(target);
  if (holder !== '' && holder !== name) refuse(`it is taken by claim ${holder}; choose another, or delete that claim`);
  if (phase === 'Deleting') refuse('it is being deleted; choose another');
  // A target that was reserved for this claim is bound whatever else differs.
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

/** A new claim must not change one that somebody has under this name. Which target that got is not for us to say. */
function refuseOther({ metadata, spec }: DeploymentTargetClaim, asked: DeploymentTargetClaim): void {
  const about = `claim ${keyOf(metadata)}`;
  if (metadata.deletionTimestamp !== undefined) {
    throw failure('BeingDeleted', `${about} is being deleted: wait until it is gone, or choose another name`);
  }
  const isSame =
    asked.spec.deploymentTargetClassName === spec.deploymentTargetClassName &&
    [undefined, spec.targetName].includes(asked.spec.targetName) &&
    asked.spec.ttl === spec.ttl &&
    [REQUESTED_NAMESPACE, SELECTOR].every((key) => asked.metadata.annotations?.[key] === metadata.annotations?.[key]);
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
  printer.tell(claim, outcome);
  printer.end();
}
