// The ignore rules for deployers are valid YAML, are those of the guide, and cover exactly what environments write.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { insertedName, routeName } from '../../traffic/istio/inserted-routes.ts';
import { WATCH_ANNOTATION } from '../identity/ownership.ts';
import { IGNORE_RULES, ignoreRulesText } from './gitops.ts';

const guide = readFileSync(path.resolve(import.meta.dirname, '../../../docs/guide/gitops.md'), 'utf8');

test.each(IGNORE_RULES.map((rule) => [rule.where, rule] as const))(
  'the guide has the rule for %s',
  (_where, { yaml }) => {
    const blocks = [...guide.matchAll(/```yaml\n(.*?)```/gs)].map(([, block]) => parse(block!) as object);
    const ignoreRule = parse(yaml) as object;
    expect(blocks.some((block) => holds(block, ignoreRule))).toBe(true);
  },
);

/** Whether a value has all fields of another. */
function holds(whole: unknown, part: unknown): boolean {
  if (typeof part !== 'object' || part === null) return whole === part;
  return Object.entries(part).every(([key, each]) => holds((whole as Record<string, unknown> | null)?.[key], each));
}

test('ignoreRulesText returns all rules, or those of one deployer', () => {
  expect(parseAllDocuments(ignoreRulesText())).toHaveLength(5);
  expect(parseAllDocuments(ignoreRulesText('argocd'))).toHaveLength(2);
  expect(ignoreRulesText('flux')).not.toContain('Argo CD');
});

test('ignoreRulesText names the routes and the annotation that environments write', () => {
  const name = routeName('shop-a', 'cart', '0123456789');
  expect(insertedName(name)).toBeDefined();
  const [, prefix] = /startswith\("(.*?)"\)/.exec(ignoreRulesText('argocd'))!;
  expect(name.startsWith(prefix!)).toBe(true);
  expect(ignoreRulesText('argocd')).toContain(`.metadata.annotations."${WATCH_ANNOTATION}"`);
});
