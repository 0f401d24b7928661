// Turns schema definitions that refer to each other by name into one graph of linked nodes. Used by kinds/.
import type { Schema } from './types.ts';

/** A definition as written: like a Schema, with `$ref: NAME` in place of other definitions. */
export type WrittenSchema = Readonly<Record<string, unknown>>;

type MutableNode = Record<string, unknown>;

/** Links every definition. A `$ref` with siblings becomes a node of its own: the target with the siblings on top. */
export function linkDefinitions(definitions: Readonly<Record<string, WrittenSchema>>): ReadonlyMap<string, Schema> {
  const nodes = new Map<string, MutableNode>();
  const overlays: { node: MutableNode; target: MutableNode; siblings: MutableNode }[] = [];
  for (const name of Object.keys(definitions)) nodes.set(name, {});

  function follow(written: WrittenSchema): MutableNode {
    const name = written['$ref'];
    if (typeof name !== 'string') return fill({}, written);
    const target = nodes.get(name);
    if (target === undefined) throw new Error(`a schema refers to ${name}, which is not defined`);
    const { $ref: _, ...siblings } = written;
    if (Object.keys(siblings).length === 0) return target;
    const node: MutableNode = {};
    overlays.push({ node, target, siblings });
    return node;
  }

  function fill(node: MutableNode, written: WrittenSchema): MutableNode {
    for (const [key, value] of Object.entries(written)) {
      if (key === 'properties') {
        const properties: MutableNode = {};
        for (const [field, schema] of Object.entries(value as WrittenSchema)) {
          properties[field] = follow(schema as WrittenSchema);
        }
        node[key] = properties;
      } else if (key === 'items' || (key === 'additionalProperties' && typeof value === 'object')) {
        node[key] = follow(value as WrittenSchema);
      } else {
        node[key] = value;
      }
    }
    return node;
  }

  for (const [name, written] of Object.entries(definitions)) fill(nodes.get(name)!, written);
  // Only now are the targets complete.
  for (const { node, target, siblings } of overlays) Object.assign(node, target, siblings);
  return nodes;
}
