// Replays sequences of applies and updates with results recorded from kube-apiserver's own field manager, and checks
// properties of applies on random configurations.
import { deepFreeze } from '../../../watchable/index.ts';
import { readFileSync } from 'node:fs';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Schema } from '../../schema/types.ts';
import { applyPatch } from './apply.ts';
import { PatchError } from '../errors.ts';
import { isList, isObject, withField, type JsonObject } from '../json.ts';
import { applyMergePatch } from '../merge-patch.ts';
import { API_VERSION, Random, randomObject, type Kind } from '../testdata/random.ts';
import { custom, deployment, pod, service } from '../testdata/schemas.ts';
import { trackUpdate } from '../managed-fields/track-update.ts';

const SCHEMAS: Record<string, Schema> = { Pod: pod, Deployment: deployment, Service: service, Custom: custom };

interface Step {
  readonly op: 'apply' | 'update';
  readonly manager: string;
  readonly force?: boolean;
  readonly subresource?: string;
  readonly apiVersion?: string;
  /** The applied object; for an update, a merge patch of the object. */
  readonly object: JsonObject;
  /** The expected conflict message. */
  readonly conflict?: string;
  readonly causes?: readonly (readonly [message: string, field: string])[];
  readonly error?: string;
}

interface Vector {
  readonly name: string;
  readonly kind: string;
  readonly apiVersion: string;
  readonly steps: readonly Step[];
  /** The object after all steps. */
  readonly result: JsonObject;
}

const file = new URL('../testdata/apply-vectors.json', import.meta.url);
const vectors = JSON.parse(readFileSync(file, 'utf8')) as readonly Vector[];

function runStep(
  { kind, apiVersion: stored }: Vector,
  step: Step,
  live: JsonObject | undefined,
  now: number,
): JsonObject {
  const { manager, subresource = '', apiVersion = stored } = step;
  const schema = SCHEMAS[kind]!;
  const old = live === undefined ? undefined : withField(live, 'apiVersion', apiVersion);
  if (step.op === 'apply') {
    const request = {
      schema,
      live: old,
      applied: step.object,
      manager,
      force: step.force ?? false,
      apiVersion,
      subresource,
      now,
    };
    return applyPatch(deepFreeze(request)).object;
  }
  const next = applyMergePatch(old ?? { apiVersion, kind }, step.object);
  return trackUpdate(deepFreeze({ schema, old, next, manager, apiVersion, subresource, now }));
}

/** Stores the object as the server does: without nulls, and with the server's metadata. */
function asStored({ apiVersion }: Vector, object: JsonObject, index: number): JsonObject {
  const clean = withoutNulls(object) as JsonObject;
  const metadata = { ...(clean['metadata'] as JsonObject), uid: 'u', resourceVersion: String(index) };
  return { ...clean, apiVersion, metadata };
}

function withoutNulls(value: unknown): unknown {
  if (isList(value)) return value.map(withoutNulls);
  if (!isObject(value)) return value;
  const kept = Object.entries(value).filter(([, part]) => part !== null);
  return Object.fromEntries(kept.map(([key, part]) => [key, withoutNulls(part)]));
}

function expectRefusal(step: Step, error: unknown): void {
  expect(error).toBeInstanceOf(PatchError);
  const { message, causes } = error as PatchError;
  expect(message).toBe(step.conflict ?? step.error);
  const found = causes
    .map((cause) => [cause.message, cause.field])
    .sort((a, b) => (a.join('|') < b.join('|') ? -1 : 1));
  expect(found).toEqual(step.causes ?? []);
}

describe('recorded applies and updates', () => {
  test.each(vectors.map((vector) => [vector.name, vector] as const))('%s', (_, vector) => {
    let live: JsonObject | undefined;
    for (const [index, step] of vector.steps.entries()) {
      const now = Date.UTC(2020, 0, 1, 0, index);
      try {
        live = asStored(vector, runStep(vector, step, live, now), index);
        expect(step.conflict ?? step.error).toBeUndefined();
      } catch (error) {
        if (!(error instanceof PatchError)) throw error;
        expectRefusal(step, error);
      }
    }
    expect(live).toEqual(vector.result);
  });
});

describe('applies of random configurations', () => {
  const seeds = fc.integer({ min: 0, max: 1_000_000 });
  const schemas: Record<Kind, Schema> = { Pod: pod, Deployment: deployment, Service: service };

  function apply(
    kind: Kind,
    live: JsonObject | undefined,
    manager: string,
    applied: JsonObject,
    minute: number,
  ): JsonObject {
    const now = Date.UTC(2026, 0, 1, 0, minute);
    const request = { schema: schemas[kind], live, applied, manager, force: true, apiVersion: API_VERSION[kind], now };
    return deepFreeze(applyPatch(deepFreeze(request)).object);
  }

  /** Adds a label: a manager without fields has no entry, and the next apply would treat the object as untracked. */
  function labelled(metadata: unknown): JsonObject {
    return { ...(metadata as JsonObject), labels: { owner: 'a' } };
  }

  test('applying the same configuration twice changes nothing', () => {
    fc.assert(
      fc.property(seeds, (seed) => {
        const random = new Random(seed);
        const kind = random.pick<Kind>(['Pod', 'Deployment', 'Service']);
        const first = apply(kind, undefined, 'a', randomObject(random, kind), 0);
        const config = randomObject(random, kind);
        const second = apply(kind, first, 'b', config, 1);
        expect(apply(kind, second, 'b', config, 2)).toBe(second);
      }),
    );
  });

  test('the order in which managers apply different fields does not matter', () => {
    fc.assert(
      fc.property(seeds, (seed) => {
        const random = new Random(seed);
        const { apiVersion, kind, metadata, spec } = randomObject(random, 'Deployment');
        const mine = { apiVersion, kind, metadata: labelled(metadata) };
        const yours = { apiVersion, kind, metadata: { name: 'x' }, spec };
        const one = apply('Deployment', apply('Deployment', undefined, 'a', mine, 0), 'b', yours, 0);
        const other = apply('Deployment', apply('Deployment', undefined, 'b', yours, 0), 'a', mine, 0);
        expect(one).toEqual(other);
      }),
    );
  });

  test('a manager that applies an empty configuration removes everything that it had applied', () => {
    fc.assert(
      fc.property(seeds, (seed) => {
        const random = new Random(seed);
        const { apiVersion, kind, metadata, spec } = randomObject(random, 'Deployment');
        const base = apply('Deployment', undefined, 'a', { apiVersion, kind, metadata: labelled(metadata) }, 0);
        const grown = apply('Deployment', base, 'b', { apiVersion, kind, metadata: { name: 'x' }, spec }, 1);
        expect(apply('Deployment', grown, 'b', { apiVersion, kind, metadata: { name: 'x' } }, 2)).toEqual(base);
      }),
    );
  });
});
