// Compiles the label and field selectors of a query into one predicate. Called by list, watch and deletecollection.
import type { AnyObject } from '../../../kube/objects.ts';
import { fieldTerms, InvalidSelectorError, labelTest, parseSelector } from '../../../kube/selector.ts';
import type { Resource } from '../../resource.ts';
import { badRequest } from '../fault.ts';

export type ObjectTest = (object: AnyObject) => boolean;

/** A predicate for all selectors of a query; undefined when they select everything. */
export function selectionOf(resource: Resource, query: URLSearchParams): ObjectTest | undefined {
  const tests = [ofLabels(query.get('labelSelector') ?? ''), ...ofFields(resource, query.get('fieldSelector') ?? '')];
  const used = tests.filter((test) => test !== undefined);
  if (used.length < 2) return used[0];
  return (object) => used.every((test) => test(object));
}

function ofLabels(text: string): ObjectTest | undefined {
  try {
    const selector = parseSelector(text);
    if (selector.length === 0) return undefined;
    const test = labelTest(selector);
    return (object) => test(object.metadata.labels);
  } catch (error) {
    if (error instanceof InvalidSelectorError) throw badRequest(`unable to parse requirement: ${error.message}`);
    throw error;
  }
}

/** One test per field, however often the selector names it. */
function ofFields(resource: Resource, text: string): ObjectTest[] {
  const problemOf = (term: string): Error => badRequest(`invalid selector: '${text}'; can't understand '${term}'`);
  const byField = Map.groupBy(fieldTerms(text, problemOf), ({ field }) => field);
  return [...byField].map(([field, terms]) => {
    const read = fieldReader(resource, field);
    if (read === undefined) throw badRequest(unknownField(resource, field));
    const required = new Set(terms.filter(({ equal }) => equal).map(({ value }) => value));
    const excluded = new Set(terms.filter(({ equal }) => !equal).map(({ value }) => value));
    return (object: AnyObject) => {
      const value = read(object);
      return !excluded.has(value) && (required.size === 0 || (required.size === 1 && required.has(value)));
    };
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

/** The name that a field selector requires: such requests need not scan other objects. */
export function selectedName(query: URLSearchParams): string | undefined {
  return /^metadata\.name=([^,=!]+)$/.exec(query.get('fieldSelector') ?? '')?.[1];
}
