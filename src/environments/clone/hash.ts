// The digest of a subset that the status carries: a signed 64-bit number that tells whether the subset has changed.
// Its value is contract, so that environments made by other tools are not restarted. FNV-1 over the fields in a fixed
// order; every record is named, and hardened after each field.
import type { ContainerOverrides, EnvVar, Subset } from '../../api/dynamicenv.ts';

const BASIS = 0xcbf29ce484222325n;
const PRIME = 0x100000001b3n;
const MASK = 0xffffffffffffffffn;

type Digest = bigint;

function fnv(bytes: Iterable<number>): Digest {
  let hash = BASIS;
  for (const byte of bytes) hash = ((hash * PRIME) & MASK) ^ BigInt(byte);
  return hash;
}

function bytesOf(...words: readonly Digest[]): Buffer {
  const buffer = Buffer.alloc(8 * words.length);
  words.forEach((word, i) => buffer.writeBigUInt64LE(word, 8 * i));
  return buffer;
}

const text = (value = ''): Digest => fnv(Buffer.from(value));
const harden = (value: Digest): Digest => fnv(bytesOf(value));
const pair = (a: Digest, b: Digest): Digest => fnv(bytesOf(a, b));
const ABSENT = harden(0n);

function optional<T>(value: T | undefined, digest: (value: T) => Digest): Digest {
  return value === undefined ? ABSENT : digest(value);
}

function list<T>(values: readonly T[] | undefined, digest: (value: T) => Digest): Digest {
  return (values ?? []).reduce((hash, value) => pair(hash, digest(value)), 0n);
}

function labels(values: Readonly<Record<string, string>> | undefined): Digest {
  return harden(Object.entries(values ?? {}).reduce((hash, [key, value]) => hash ^ pair(text(key), text(value)), 0n));
}

function record(name: string, fields: Readonly<Record<string, Digest>>): Digest {
  return Object.entries(fields).reduce((hash, [field, value]) => harden(hash ^ pair(text(field), value)), text(name));
}

function int32(value: number): Digest {
  const buffer = Buffer.alloc(4);
  buffer.writeInt32LE(value);
  return fnv(buffer);
}

const bool = (value: boolean): Digest => fnv([value ? 1 : 0]);

type ValueFrom = NonNullable<EnvVar['valueFrom']>;

function keySelector(name: string, selector: { name?: string; key: string; optional?: boolean }): Digest {
  return record(name, {
    LocalObjectReference: record('LocalObjectReference', { Name: text(selector.name) }),
    Key: text(selector.key),
    Optional: optional(selector.optional, bool),
  });
}

/** Only the format of a quantity is part of the hash. */
function quantityFormat(divisor: string | number | undefined): string {
  const written = String(divisor ?? '');
  if (written === '') return '';
  if (/[KMGTPE]i$/.test(written)) return 'BinarySI';
  return /[eE][+-]?\d/.test(written) ? 'DecimalExponent' : 'DecimalSI';
}

function valueFrom(source: ValueFrom): Digest {
  return record('EnvVarSource', {
    FieldRef: optional(source.fieldRef, (ref) =>
      record('ObjectFieldSelector', { APIVersion: text(ref.apiVersion), FieldPath: text(ref.fieldPath) }),
    ),
    ResourceFieldRef: optional(source.resourceFieldRef, (ref) =>
      record('ResourceFieldSelector', {
        ContainerName: text(ref.containerName),
        Resource: text(ref.resource),
        Divisor: record('Quantity', { Format: text(quantityFormat(ref.divisor)) }),
      }),
    ),
    ConfigMapKeyRef: optional(source.configMapKeyRef, (ref) => keySelector('ConfigMapKeySelector', ref)),
    SecretKeyRef: optional(source.secretKeyRef, (ref) => keySelector('SecretKeySelector', ref)),
    FileKeyRef: optional(source.fileKeyRef, (ref) =>
      record('FileKeySelector', {
        VolumeName: text(ref.volumeName),
        Path: text(ref.path),
        Key: text(ref.key),
        Optional: optional(ref.optional, bool),
      }),
    ),
  });
}

function container(overrides: ContainerOverrides): Digest {
  return record('ContainerOverrides', {
    ContainerName: text(overrides.containerName),
    Image: text(overrides.image),
    Command: list(overrides.command, text),
    Env: list(overrides.env, (variable) =>
      record('EnvVar', {
        Name: text(variable.name),
        Value: text(variable.value),
        ValueFrom: optional(variable.valueFrom, valueFrom),
      }),
    ),
  });
}

const known = new WeakMap<Subset, bigint>();

/** The digest of a subset or consumer, as a signed 64-bit integer. Cached: every plan needs it, and it is slow. */
export function subsetHash(subset: Subset): bigint {
  let hash = known.get(subset);
  if (hash === undefined) known.set(subset, (hash = digestOf(subset)));
  return hash;
}

function digestOf(subset: Subset): bigint {
  const digest = record('Subset', {
    Name: text(subset.name),
    Namespace: text(subset.namespace),
    PodLabels: labels(subset.podLabels),
    Replicas: optional(subset.replicas, int32),
    Containers: list(subset.containers, container),
    InitContainers: list(subset.initContainers, container),
    DefaultVersion: text(subset.defaultVersion),
  });
  return BigInt.asIntN(64, digest);
}
