// Protobuf compared with Go: random objects of every served kind are encoded by Go, decoded here, and encoded again.
import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { expect, test } from 'vitest';
import { writtenDefinitions } from '../../src/embedded/kinds/definitions.ts';
import { decodeObject } from '../../src/embedded/protobuf/decode.ts';
import { encodeObject } from '../../src/embedded/protobuf/encode.ts';
import { parseJson, stringifyJson } from '../../src/kube/json.ts';
import { goObjects } from '../programs/go-objects.ts';
import { findPrograms } from '../programs/programs.ts';
import { describeRequiring } from '../support/requirements.ts';

const found = findPrograms(goObjects);
const requirement = {
  what: 'objects that Go encodes',
  missing: 'missing' in found ? found.missing : undefined,
  variable: 'OFFSHOOT_REAL_CLUSTER',
};
const limits = { depth: 200, values: 50_000 };

interface Line {
  readonly kind: string;
  readonly protobuf: string;
  readonly json: unknown;
}

function run(args: readonly string[], input = ''): string {
  const program = path.join('dir' in found ? found.dir : '', 'go-objects');
  const { stdout, stderr, status } = spawnSync(program, args, { input, encoding: 'utf8', maxBuffer: 2 ** 30 });
  if (status !== 0) throw new Error(`go-objects ${args[0]} failed: ${stderr}`);
  return stdout;
}

/** Such as `apps/v1/Deployment`. TopologySelectorTerm has a kind in the schemas, but is only a part of StorageClass. */
function servedKinds(): string[] {
  return Object.values(writtenDefinitions())
    .flatMap(
      (definition) =>
        (definition as { 'x-kubernetes-group-version-kind'?: Kind[] })['x-kubernetes-group-version-kind'] ?? [],
    )
    .filter(({ kind }) => kind !== 'TopologySelectorTerm')
    .map(({ group, version, kind }) => [...(group === '' ? [] : [group]), version, kind].join('/'));
}

interface Kind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

const byKey = ([one]: [string, unknown], [other]: [string, unknown]): number => (one < other ? -1 : 1);

/** Sorts the fields, and drops nulls: Go writes them for absent values of required fields. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).filter(([, part]) => part !== null);
  return Object.fromEntries(entries.toSorted(byKey).map(([key, part]) => [key, sorted(part)]));
}

describeRequiring('objects that Go encodes', [requirement], () => {
  test('are decoded to the same JSON, and Go decodes them to the same object again', { timeout: 120_000 }, () => {
    const kinds = servedKinds();
    expect(kinds.length).toBeGreaterThan(45);
    const seed = String(Math.floor(Math.random() * 2 ** 31));
    const lines = run(['write', seed, '5', ...kinds])
      .trim()
      .split('\n');
    expect(lines).toHaveLength(5 * kinds.length);
    const back = lines.map((text) => {
      const { kind, protobuf, json } = parseJson(text) as Line;
      const object = decodeObject(Buffer.from(protobuf, 'base64'), limits);
      expect(stringifyJson(sorted(object)), `${kind} of seed ${seed}`).toBe(stringifyJson(sorted(json)));
      const bytes = encodeObject(object)!;
      return stringifyJson({ kind, protobuf: bytes.toString('base64'), json });
    });
    expect(run(['read'], back.join('\n')), `seed ${seed}`).toBe('');
  });
});
