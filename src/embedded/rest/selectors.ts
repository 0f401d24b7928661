// Label and field selectors of a query → one test of objects. Called by list, watch and deletecollection.
import type { AnyObject } from '../../kube/objects.ts';
import { InvalidSelectorError, matches, parseSelector } from '../../kube/selector.ts';
import type { Resource } from '../resource.ts';
import { badRequest } from './fault.ts';

export type ObjectTest = (object: AnyObject) => boolean;

/** The test that the selectors of a query make together; undefined when they select everything. */
export function selectionOf(resource: Resource, query: URLSearchParams): ObjectTest | undefined {
  const tests = [
    labelTest(query.get('labelSelector') ?? ''),
    ...fieldTests(resource, query.get('fieldSelector') ?? ''),
  ];
  const used = tests.filter((test) => test !== undefined);
  if (used.length < 2) return used[0];
  return (object) => used.every((test) => test(object));
}

function labelTest(text: string): ObjectTest | undefined {
  try {
    const selector = parseSelector(text);
    return selector.length === 0 ? undefined : (object) => matches(selector, object.metadata.labels);
  } catch (error) {
    if (error instanceof InvalidSelectorError) throw badRequest(`unable to parse requirement: ${error.message}`);
    throw error;
  }
}

function fieldTests(resource: Resource, text: string): ObjectTest[] {
  return text.split(',').flatMap((term) => {
    if (term.trim() === '') return [];
    const parts = /^\s*([^=!]+?)\s*(==|=|!=)\s*(.*?)\s*$/.exec(term);
    if (parts === null) throw badRequest(`invalid selector: '${text}'; can't understand '${term}'`);
    const [, field = '', operator, value = ''] = parts;
    const read = fieldReader(resource, field);
    if (read === undefined) throw badRequest(unknownField(resource, field));
    const wanted = operator !== '!=';
    return [(object: AnyObject) => (read(object) === value) === wanted];
  });
}

function unknownField({ custom, selectableFields = {} }: Resource, field: string): string {
  return !custom && Object.keys(selectableFields).length === 0
    ? `"${field}" is not a known field selector: only "metadata.name", "metadata.namespace"`
    : `field label not supported: ${field}`;
}

function fieldReader(resource: Resource, field: string): ((object: AnyObject) => string) | undefined {
  if (field === 'metadata.name') return (object) => object.metadata.name;
  if (field === 'metadata.namespace') return (object) => object.metadata.namespace ?? '';
  const fields = resource.selectableFields ?? {};
  return Object.hasOwn(fields, field) ? fields[field] : undefined;
}

/** The single name that a field selector leaves possible: such requests need no look at other objects. */
export function selectedName(query: URLSearchParams): string | undefined {
  return /^metadata\.name=([^,=!]+)$/.exec(query.get('fieldSelector') ?? '')?.[1];
}
