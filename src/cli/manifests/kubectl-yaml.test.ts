// What kubectl makes of a text was seen with kubectl itself; where one is found, it is asked again by
// test/embedded/kubectl.test.ts.
import { expect, test } from 'vitest';
import { parseYaml } from './kubectl-yaml.ts';
import { refusedByKubectl, takenByKubectl } from '../testing/yaml-habits.ts';

test.each(takenByKubectl)('taken: %j', (text, value) => {
  const documents = parseYaml(text);
  expect(documents.flatMap(({ problems }) => problems.filter(({ isWarning }) => !isWarning))).toEqual([]);
  expect(documents.map((document) => document.value())).toEqual([value]);
});

test.each(refusedByKubectl)('refused: %j', (text, message) => {
  const problems = parseYaml(text).flatMap((document) => document.problems);
  expect(problems.map((problem) => problem.message)).toContainEqual(expect.stringMatching(message));
});

test('a key that is given twice is a warning, where it is', () => {
  const [document] = parseYaml('a: 1\nb: 2\na: 3\n');
  expect(document!.problems).toEqual([
    { line: 3, column: 1, message: 'the key is given twice; the last one wins', isWarning: true },
  ]);
});

test('places are those of the text as it was written', () => {
  const [document] = parseYaml('a:\n  b: [\n1, {x: .inf}]\n');
  expect(document!.problems).toEqual([{ line: 3, column: 8, message: '.inf is not a number for Kubernetes' }]);
});

test('integers are exact, also those that a number cannot hold', () => {
  const [document] = parseYaml('hash: -7861529181981505185\nport: 8080\n');
  expect(document!.value()).toEqual({ hash: -7861529181981505185n, port: 8080 });
});
