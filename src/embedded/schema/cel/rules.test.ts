import { describe, expect, test } from 'vitest';
import { errorsText } from '../field-error.ts';
import type { Schema, ValidationRule } from '../types.ts';
import { compileRules } from './compile.ts';
import { checkRules } from './rules.ts';

const base: Schema = {
  type: 'object',
  properties: {
    replicas: { type: 'integer' },
    limit: { type: 'integer', format: 'int64' },
    ratio: { type: 'number' },
    name: { type: 'string' },
    namespace: { type: 'string' },
    'with-dash': { type: 'string' },
    port: { 'x-kubernetes-int-or-string': true },
    when: { type: 'string', format: 'date-time' },
    timeout: { type: 'string', format: 'duration' },
    tags: { type: 'array', items: { type: 'string' } },
    numbers: { type: 'array', items: { type: 'integer' } },
    labels: { type: 'object', additionalProperties: { type: 'string' } },
    parts: {
      type: 'array',
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['name'],
      items: {
        type: 'object',
        properties: {
          name: { type: 'string' },
          size: {
            type: 'integer',
            'x-kubernetes-validations': [{ rule: 'self >= oldSelf', message: 'must not shrink' }],
          },
        },
      },
    },
  },
};

function withRules(...rules: readonly ValidationRule[]): Schema {
  return { type: 'object', properties: { spec: { ...base, 'x-kubernetes-validations': rules } } };
}

function outcome(rule: string, spec: unknown): string {
  const schema = withRules({ rule });
  const problem = compileRules(schema.properties!['spec']!, false).problems[0];
  if (problem !== undefined) return problem.text;
  const errors = checkRules(schema, { spec });
  return errors.length === 0 ? 'holds' : errorsText(errors);
}

const spec = {
  replicas: 3,
  limit: 2n ** 60n,
  ratio: 2,
  name: 'Alice',
  namespace: 'team',
  'with-dash': 'x',
  port: 8080,
  when: '2026-01-02T03:04:05Z',
  timeout: '90s',
  tags: ['a', 'b', 'b'],
  numbers: [1, 2, 3],
  labels: { 'app.kubernetes.io/name': 'x' },
  parts: [{ name: 'one', size: 1 }],
};

describe('rules', () => {
  test.each([
    'self.replicas == 3 && self.replicas > 2',
    'self.limit == 1152921504606846976',
    'self.ratio > 1.5',
    'self.__namespace__ == "team" && self.with__dash__dash == "x"',
    'self.port == 8080 || self.port == "http"',
    'self.when > timestamp("2026-01-01T00:00:00Z")',
    'self.timeout == duration("1m30s")',
    'self.tags.isSorted() && self.numbers.sum() == 6 && self.numbers.min() == 1 && self.numbers.max() == 3',
    'self.tags.indexOf("b") == 1 && self.tags.lastIndexOf("b") == 2',
    'self.name.matches("(?i)^alice$")',
    'self.name.find("[a-z]+") == "lice" && self.name.findAll("[lc]", 1) == ["l"]',
    'self.name.replace("l", "L").charAt(1) == "L"',
    '"%s has %d".format([self.name, self.replicas]) == "Alice has 3"',
    'sets.contains(self.tags, ["a"]) && sets.equivalent(self.tags, ["b", "a"]) && !sets.intersects(self.tags, ["c"])',
    'quantity("1Gi").isGreaterThan(quantity("900Mi")) && quantity("1").add(1).asInteger() == 2',
    'url("https://example.com:80/a?b=c").getHostname() == "example.com" && isURL("/a") && !isURL("a b")',
    'isIP("10.0.0.1") && ip("::1").isLoopback() && ip("10.0.0.1").family() == 4 && ip.isCanonical("::1")',
    'cidr("10.0.0.0/8").containsIP("10.1.2.3") && cidr("10.0.0.0/8").containsCIDR("10.1.0.0/16")',
    '!format.dns1123Label().validate("a-b").hasValue() && format.named("uuid").hasValue()',
    'self.?when.hasValue() && self.labels[?"none"].orValue("x") == "x"',
    'self.labels.all(k, k.startsWith("app"))',
    'self.labels["app.kubernetes.io/name"] == "x" && "app.kubernetes.io/name" in self.labels',
    'self.parts.all(p, p.size > 0) && self.parts.exists_one(p, p.name == "one") && self.parts.map(p, p.name) == ["one"]',
    'has(self.parts[0].name) && self.parts.all(p, has(p.size)) && !has(self.parts.filter(p, true)[0].none)',
    '!has(self.labels) || size(self.labels) == 1',
    'semver("1.2.0").isLessThan(semver("1.10.0")) && semver("1.0.0-rc.1").compareTo(semver("1.0.0")) == -1',
    'isSemver("1.0.0") && !isSemver("v1.0") && semver("v1.02", true).minor() == 2',
    'string(self.when) == "2026-01-02T03:04:05Z" && duration(self.timeout) == self.timeout && int(self.when) > 0',
  ])('%s is true', (rule) => {
    expect(outcome(rule, spec)).toBe('holds');
  });

  test.each([
    ['self.replicas > 5', 'spec: Invalid value: failed rule: self.replicas > 5'],
    [
      'self.numbers[7] == 1',
      'spec: Invalid value: "object": index out of bounds: 7 evaluating rule: self.numbers[7] == 1',
    ],
    [
      'self.labels["none"] == ""',
      'spec: Invalid value: "object": no such key: none evaluating rule: self.labels["none"] == ""',
    ],
  ])('%s fails with a message', (rule, text) => {
    expect(outcome(rule, spec)).toBe(text);
  });

  test.each([
    ['self.nope == 1', "compilation failed: ERROR: <input>:1:5: undefined field 'nope'\n | self.nope == 1\n | ....^"],
    ['self.parts.all(p, p.colour == "x")', "undefined field 'colour'"],
    ['self.replicas +', 'Syntax error'],
    ['other == 1', "undeclared reference to 'other' (in container '')"],
    ['self.replicas.fly()', "undeclared reference to 'fly' (in container '')"],
    ['size(self.tags)', 'cel expression must evaluate to a bool'],
  ])('%s does not compile', (rule, text) => {
    expect(outcome(rule, spec)).toContain(text);
  });
});

describe('errors of rules', () => {
  test('use the message, reason and field path of the rule', () => {
    const schema = withRules(
      { rule: 'false', message: ' too many ', reason: 'FieldValueForbidden', fieldPath: '.replicas' },
      { rule: 'false', messageExpression: '"at most " + string(self.replicas)', reason: 'FieldValueRequired' },
    );
    expect(errorsText(checkRules(schema, { spec }))).toBe(
      '[spec.replicas: Forbidden: too many, spec: Required value: at most 3]',
    );
  });

  test('use the fixed message if the message expression returns several lines', () => {
    const schema = withRules({ rule: 'false', message: 'fixed', messageExpression: '"two\\nlines"' });
    expect(errorsText(checkRules(schema, { spec }))).toBe('spec: Invalid value: fixed');
  });
});

describe('on update', () => {
  test('a transition rule runs only with an old value, with list items matched by key', () => {
    const schema = withRules();
    const old = { spec: { parts: [{ name: 'a', size: 5 }] } };
    const next = {
      spec: {
        parts: [
          { name: 'new', size: 1 },
          { name: 'a', size: 4 },
        ],
      },
    };
    expect(checkRules(schema, next)).toEqual([]);
    expect(errorsText(checkRules(schema, next, old))).toBe('spec.parts[1].size: Invalid value: 4: must not shrink');
  });

  test('a rule with optionalOldSelf runs with and without an old value', () => {
    const schema = withRules({
      rule: 'oldSelf.hasValue() || self.replicas == 1',
      optionalOldSelf: true,
      message: 'start with 1',
    });
    expect(errorsText(checkRules(schema, { spec: { replicas: 2 } }))).toBe('spec: Invalid value: start with 1');
    expect(checkRules(schema, { spec: { replicas: 2 } }, { spec: { replicas: 1 } })).toEqual([]);
  });

  test('a rule that fails for an unchanged value is ignored', () => {
    const schema = withRules({ rule: 'self.replicas < 3' });
    expect(checkRules(schema, { spec, other: 1 }, { spec })).toEqual([]);
    expect(checkRules(schema, { spec: { ...spec, name: 'Bob' } }, { spec })).toHaveLength(1);
  });
});

test('a rule whose loops would take too long is not evaluated', () => {
  const schema = withRules({ rule: 'self.tags.all(a, self.tags.all(b, self.tags.all(c, a + b + c != "")))' });
  const tags = Array.from({ length: 2000 }, (_, index) => `t${index}`);
  expect(errorsText(checkRules(schema, { spec: { tags } }))).toContain('running out of cost budget');
});

test('rules at the root can read metadata.name', () => {
  const schema: Schema = {
    type: 'object',
    properties: {},
    'x-kubernetes-validations': [{ rule: 'self.metadata.name == "x"', message: 'name must be x' }],
  };
  expect(checkRules(schema, { metadata: { name: 'x' } })).toEqual([]);
  expect(errorsText(checkRules(schema, { metadata: { name: 'y' } }))).toBe('<nil>: Invalid value: name must be x');
});
