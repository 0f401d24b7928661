import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decodeObject, LimitExceeded } from './decode.ts';
import { encodeEvent, encodeList, encodeMessage, encodeObject, withType } from './encode.ts';
import { InvalidMessage, wireTypes, Writer } from './wire.ts';

const limits = { depth: 100, values: 10_000 };

function roundTrip(object: { apiVersion: string; kind: string }): unknown {
  return decodeObject(encodeObject(object)!, limits);
}

describe('encoding and decoding', () => {
  test('preserves all types of fields of a pod', () => {
    const pod = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: {
        name: 'web',
        creationTimestamp: '2026-01-02T03:04:05Z',
        labels: { app: 'shop – ß', ['__proto__']: 'plain', '': 'empty' },
        managedFields: [{ manager: 'me', fieldsType: 'FieldsV1', fieldsV1: { 'f:spec': { '.': {} } } }],
        ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name: 'n', uid: 'u', controller: false }],
      },
      spec: {
        volumes: [{ name: 'inline', emptyDir: { sizeLimit: '1Gi' } }],
        containers: [
          {
            name: 'web',
            command: ['sh', '-c', 'x'.repeat(5000)],
            ports: [{ hostPort: 0, containerPort: 80 }].map(({ containerPort }) => ({ containerPort })),
            resources: { limits: { cpu: '100m' } },
            livenessProbe: { httpGet: { port: 'http' } },
            readinessProbe: { tcpSocket: { port: 8080 } },
            securityContext: { runAsUser: 0, privileged: false },
          },
        ],
        terminationGracePeriodSeconds: 0,
        activeDeadlineSeconds: 9_007_199_254_740_993n,
        securityContext: { supplementalGroups: [1, 2 ** 40, -5] },
      },
      status: { conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: '1969-12-31T23:59:59Z' }] },
    };
    expect(roundTrip(pod)).toEqual(pod);
  });

  test('preserves microseconds, embedded JSON, bytes, and lists that are messages', () => {
    const lease = {
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      spec: { renewTime: '2026-01-02T03:04:05.000678Z', leaseTransitions: 0 },
    };
    expect(roundTrip(lease)).toEqual(lease);
    const revision = { apiVersion: 'apps/v1', kind: 'ControllerRevision', data: { spec: [1, null] }, revision: 3 };
    expect(roundTrip(revision)).toEqual(revision);
    const secret = { apiVersion: 'v1', kind: 'Secret', data: { key: 'AP8=' } };
    expect(roundTrip(secret)).toEqual(secret);
    const review = {
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SubjectAccessReview',
      spec: { user: 'jane', extra: { scopes: ['a', 'b'], none: [] } },
      status: { allowed: false },
    };
    expect(roundTrip(review)).toEqual(review);
  });

  test('preserves the schemas of a CustomResourceDefinition', () => {
    const string = { type: 'string' };
    const properties = {
      any: { type: 'object', additionalProperties: true },
      none: { type: 'object', additionalProperties: false },
      map: { type: 'object', additionalProperties: string },
      list: { type: 'array', items: string, default: ['a'], minItems: 0 },
      number: { type: 'number', maximum: 1.5, enum: [1, 1.5, null] },
      ref: { $ref: '#/x', 'x-kubernetes-preserve-unknown-fields': true },
    };
    const definition = {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      spec: {
        group: 'g',
        names: { plural: 'p', kind: 'K' },
        scope: 'Namespaced',
        versions: [
          { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object', properties } } },
        ],
      },
    };
    expect(roundTrip(definition)).toEqual(definition);
  });

  test('preserves all strings and 64-bit integers', () => {
    const texts = fc.dictionary(fc.string({ unit: 'grapheme' }), fc.string({ unit: 'grapheme', maxLength: 100 }));
    fc.assert(
      fc.property(texts, fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), (data, big) => {
        const revision = Number.isSafeInteger(Number(big)) ? Number(big) : big;
        const map = { apiVersion: 'v1', kind: 'ConfigMap', ...(Object.keys(data).length > 0 && { data }) };
        expect(roundTrip(map)).toEqual(map);
        const other = { apiVersion: 'apps/v1', kind: 'ControllerRevision', revision };
        expect(roundTrip(other)).toEqual(other);
      }),
    );
  });
});

describe('decoding', () => {
  const type = { apiVersion: 'v1', kind: 'ConfigMap' };

  test('skips unknown fields', () => {
    const writer = new Writer();
    writer.text('new');
    writer.tag(99, wireTypes.bytes);
    writer.double(1.5);
    writer.tag(98, wireTypes.fixed64);
    expect(decodeObject(withType(type, [writer.finish()]), limits)).toEqual(type);
  });

  test('omits zero values of fields that are optional in JSON', () => {
    const service = encodeMessage({ spec: { clusterIP: '', healthCheckNodePort: 0 } }, 'core.v1.Service');
    expect(decodeObject(withType({ apiVersion: 'v1', kind: 'Service' }, [service]), limits)).toMatchObject({
      spec: {},
    });
  });

  test('refuses messages that are invalid, nested too deeply, or have too many values', () => {
    const bytes = encodeObject({ ...type, data: { a: 'b' } } as typeof type)!;
    expect(() => decodeObject(Buffer.from('{}'), limits)).toThrow(InvalidMessage);
    expect(() => decodeObject(bytes.subarray(0, bytes.length - 8), limits)).toThrow('it ends inside a field');
    expect(() => decodeObject(withType({ ...type, kind: 'Other' }, []), limits)).toThrow('"Other" of "v1"');
    const wide = { ...type, data: Object.fromEntries(Array.from({ length: 200 }, (_, index) => [index, 'x'])) };
    expect(() => decodeObject(encodeObject(wide)!, { ...limits, values: 100 })).toThrow(LimitExceeded);
    const revision = { apiVersion: 'apps/v1', kind: 'ControllerRevision' };
    const nested = { ...revision, data: JSON.parse('['.repeat(200) + ']'.repeat(200)) as unknown };
    expect(() => decodeObject(encodeObject(nested)!, limits)).toThrow(LimitExceeded);
  });
});

test('lists and watch events include encoded objects unchanged', () => {
  const one = encodeMessage({ metadata: { name: 'one' } }, 'core.v1.ConfigMap');
  const list = encodeList({ apiVersion: 'v1', kind: 'ConfigMapList' }, { resourceVersion: '7' }, [one, one]);
  expect(decodeObject(list, limits)).toMatchObject({
    metadata: { resourceVersion: '7' },
    items: [{ metadata: { name: 'one' } }, { metadata: { name: 'one' } }],
  });
  const frame = Buffer.concat(encodeEvent('ADDED', list));
  expect(frame.readUInt32BE()).toBe(frame.length - 4);
  expect(frame.subarray(-list.length).equals(list)).toBe(true);
});
