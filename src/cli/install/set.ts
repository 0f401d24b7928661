// `--set`: values on the command line, in Helm's syntax.
import { parse } from '../../kube/yaml.ts';
import { invalidFlag } from '../exit.ts';

type Tree = Readonly<Record<string, unknown>>;

/** Merges `--set` flags such as `a.b=true` into values. A value is parsed as YAML, so `[x, y]` is a list. */
export function withSets(values: unknown, sets: readonly string[]): Tree {
  let result = isTree(values) ? values : {};
  for (const text of sets) {
    const [, name = '', value = ''] = /^([\w.-]+)=(.*)$/s.exec(text) ?? [];
    const path = name.split('.');
    if (path.includes('')) throw invalidFlag('--set', text, 'write it as NAME=VALUE, such as parts.targets=true');
    result = put(result, path, read(text, value));
  }
  return result;
}

function put(tree: Tree, [first = '', ...rest]: readonly string[], value: unknown): Tree {
  const below = tree[first];
  return { ...tree, [first]: rest.length === 0 ? value : put(isTree(below) ? below : {}, rest, value) };
}

function read(text: string, value: string): unknown {
  if (value === '') return '';
  try {
    return parse(value) as unknown;
  } catch (error) {
    throw invalidFlag('--set', text, `the value is not valid YAML: ${(error as Error).message.split('\n')[0]}`);
  }
}

function isTree(value: unknown): value is Tree {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
