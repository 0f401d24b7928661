import { array, assert, constantFrom, property, record, dictionary } from 'fast-check';
import { expect, test } from 'vitest';
import { matches } from '../../kube/selector.ts';
import type { Requirement } from '../../kube/selector.ts';
import { SelectorIndex } from './selector-index.ts';

const names = constantFrom('app', 'tier', 'zone');
const values = constantFrom('a', 'b', 'c');
const requirement = record({
  key: names,
  operator: constantFrom<Requirement['operator'][]>('In', 'NotIn', 'Exists', 'DoesNotExist'),
  values: array(values, { minLength: 1, maxLength: 2 }),
});

test('SelectorIndex finds exactly the selectors that match, even after they change', () => {
  const step = record({
    key: constantFrom('one', 'two', 'three'),
    namespace: constantFrom('x', 'y'),
    selector: array(requirement, { maxLength: 3 }),
  });
  assert(
    property(array(step, { maxLength: 12 }), dictionary(names, values), (steps, labels) => {
      const index = new SelectorIndex();
      const model = new Map<string, (typeof steps)[number]>();
      for (const { key, namespace, selector } of steps) {
        index.set(key, namespace, selector);
        model.set(key, { key, namespace, selector });
      }
      const expected = [...model.values()].filter(
        ({ namespace, selector }) => namespace === 'x' && matches(selector, labels),
      );
      expect(new Set(index.matching('x', labels))).toEqual(new Set(expected.map(({ key }) => key)));
      for (const key of model.keys()) index.set(key, '', undefined);
      expect(index.matching('x', labels)).toEqual([]);
    }),
  );
});
