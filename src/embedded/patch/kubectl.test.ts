// Compares the three patch types that kubectl can apply locally with the results of kubectl, on random cases.
// KUBECTL names the binary (otherwise PATH is searched); PATCH_CASES sets the number of cases per type.
import { deepFreeze } from '../../watchable/index.ts';
import { execFile } from 'node:child_process';
import { accessSync, constants, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, describe, expect, test } from 'vitest';
import type { Schema } from '../schema/types.ts';
import { PatchError } from './errors.ts';
import { applyJsonPatch } from './json-patch.ts';
import { isList, isObject, type JsonObject } from './json.ts';
import { applyMergePatch } from './merge-patch.ts';
import { applyStrategicMergePatch } from './strategic/strategic.ts';
import {
  Random,
  randomJsonPatch,
  randomMergePatch,
  randomObject,
  randomStrategicPatch,
  type Kind,
} from './testdata/random.ts';
import { deployment, pod, service } from './testdata/schemas.ts';

const SCHEMAS: Record<Kind, Schema> = { Pod: pod, Deployment: deployment, Service: service };
const CASES = Number(process.env['PATCH_CASES'] ?? 14);
const FIRST_SEED = Number(process.env['PATCH_SEED'] ?? 1);
const CONCURRENT = 4;

const run = promisify(execFile);
const kubectl = findKubectl();
const directory = mkdtempSync(path.join(tmpdir(), 'offshoot-patch-'));
afterAll(() => rmSync(directory, { recursive: true }));

function findKubectl(): string | undefined {
  const named = process.env['KUBECTL'];
  const folders = (process.env['PATH'] ?? '').split(path.delimiter);
  const candidates = named === undefined ? folders.map((folder) => path.join(folder, 'kubectl')) : [named];
  return candidates.find((candidate) => {
    try {
      accessSync(candidate, constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

interface Case {
  readonly seed: number;
  readonly kind: Kind;
  readonly object: JsonObject;
  readonly patch: unknown;
}

type PatchType = 'strategic' | 'merge' | 'json';

function randomCase(type: PatchType, seed: number): Case {
  const random = new Random(seed);
  const kind = random.pick<Kind>(['Pod', 'Deployment', 'Service']);
  const object = randomObject(random, kind);
  const patch = {
    strategic: () => randomStrategicPatch(random, kind),
    merge: () => randomMergePatch(random, kind),
    json: () => randomJsonPatch(random),
  }[type]();
  return deepFreeze({ seed, kind, object, patch });
}

function ours(type: PatchType, { kind, object, patch }: Case): JsonObject | 'refused' {
  try {
    if (type === 'strategic') return applyStrategicMergePatch(SCHEMAS[kind], object, patch);
    return type === 'merge' ? applyMergePatch(object, patch) : applyJsonPatch(object, patch);
  } catch (error) {
    if (error instanceof PatchError) return 'refused';
    throw error;
  }
}

async function theirs(type: PatchType, { seed, object, patch }: Case): Promise<unknown> {
  const file = path.join(directory, `${type}-${seed}.json`);
  writeFileSync(file, JSON.stringify(object));
  const flags = ['patch', '--local', '--kubeconfig=/dev/null', '-f', file, `--type=${type}`, '-o', 'json'];
  try {
    const { stdout } = await run(kubectl!, [...flags, '-p', JSON.stringify(patch)]);
    return JSON.parse(stdout);
  } catch (error) {
    if (error instanceof Error && 'stderr' in error) return 'refused';
    throw error;
  }
}

/** The server decodes the result into Go structs, which drop directives and treat null and empty like absent. */
function withoutEmpty(value: unknown): unknown {
  if (isList(value)) return value.map(withoutEmpty);
  if (!isObject(value)) return value;
  const kept = Object.entries(value)
    .map(([key, part]) => [key, withoutEmpty(part)] as const)
    .filter(([key, part]) => !key.startsWith('$') && !isEmpty(part));
  return Object.fromEntries(kept);
}

function isEmpty(value: unknown): boolean {
  return value === null || (typeof value === 'object' && Object.keys(value).length === 0);
}

describe.skipIf(kubectl === undefined)('patches', () => {
  const timeout = 60_000 + CASES * 1000;
  test.each<PatchType>(['strategic', 'merge', 'json'])('of type %s match kubectl', { timeout }, async (type) => {
    const cases = Array.from({ length: CASES }, (_, index) => randomCase(type, FIRST_SEED + index));
    const next = cases.values();
    await Promise.all(
      Array.from({ length: CONCURRENT }, async () => {
        for (const one of next) {
          const expected = await theirs(type, one);
          expect(withoutEmpty(ours(type, one)), `seed ${one.seed}`).toEqual(withoutEmpty(expected));
        }
      }),
    );
  });
});
