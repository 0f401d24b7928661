// The objects of a YAML text with one or more documents.
import { parseAllDocuments } from 'yaml';
import type { AnyObject } from '../../src/kube/index.ts';

export function parseObjects(yaml: string): AnyObject[] {
  return parseAllDocuments(yaml).map((document) => document.toJS() as AnyObject);
}
