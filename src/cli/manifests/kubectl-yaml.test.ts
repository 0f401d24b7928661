// The expected results come from kubectl; if kubectl is installed, test/embedded/kubectl.test.ts checks them against
// it.
import { expect, test } from 'vitest';
import { parseYaml } from './kubectl-yaml.ts';
import { refusedByKubectl, takenByKubectl } from '../testing/yaml-habits.ts';

test.each(takenByKubectl)('parseYaml accepts what kubectl accepts: %j', (text, value) => {
  const documents = parseYaml(text);
  expect(documents.flatMap(({ problems }) => problems.filter(({ isWarning }) => !isWarning))).toEqual([]);
  expect(documents.map((document) => document.value())).toEqual([value]);
});

test.each(refusedByKubectl)('parseYaml rejects what kubectl rejects: %j', (text, message) => {
  const problems = parseYaml(text).flatMap((document) => document.problems);
  expect(problems.map((problem) => problem.message)).toContainEqual(expect.stringMatching(message));
});

test('a duplicate key is a warning with its position', () => {
  const [document] = parseYaml('a: 1\nb: 2\na: 3\n');
  expect(document!.problems).toEqual([
    { line: 3, column: 1, message: 'the key is given twice; the last one wins', isWarning: true },
  ]);
});

test('positions refer to the original text', () => {
  const [document] = parseYaml('a:\n  b: [\n1, {x: .inf}]\n');
  expect(document!.problems).toEqual([{ line: 3, column: 8, message: '.inf is not a number for Kubernetes' }]);
});

test('integers are exact, also beyond the range of numbers', () => {
  const [document] = parseYaml('hash: -7861529181981505185\nport: 8080\n');
  expect(document!.value()).toEqual({ hash: -7861529181981505185n, port: 8080 });
});
