// Resolves references between schema definitions into one graph of linked nodes. Used by kinds/.
import type { Schema } from './types.ts';

/** An unresolved definition: like a Schema, with `$ref: NAME` for other definitions. */
export type WrittenSchema = Readonly<Record<string, unknown>>;

type MutableNode = Record<string, unknown>;

/**
 * Links definitions on demand, with all that they reference. A `$ref` with siblings becomes a separate node: the
 * target, overridden by the siblings.
 */
export function linkDefinitions(
  definitions: Readonly<Record<string, WrittenSchema>>,
  onLinked: (name: string, schema: Schema) => void = () => undefined,
): (name: string) => Schema | undefined {
  const nodes = new Map<string, MutableNode>();
  const unfilled: string[] = [];
  let overlays: { node: MutableNode; target: MutableNode; siblings: MutableNode }[] = [];

  function nodeOf(name: string): MutableNode | undefined {
    const known = nodes.get(name);
    if (known !== undefined || !Object.hasOwn(definitions, name)) return known;
    const node: MutableNode = {};
    nodes.set(name, node);
    unfilled.push(name);
    onLinked(name, node);
    return node;
  }

  function follow(written: WrittenSchema): MutableNode {
    const name = written['$ref'];
    if (typeof name !== 'string') return fill({}, written);
    const target = nodeOf(name);
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

  return (name) => {
    const node = nodeOf(name);
    for (let next = unfilled.pop(); next !== undefined; next = unfilled.pop())
      fill(nodes.get(next)!, definitions[next]!);
    // The targets are complete only now.
    for (const { node: overlay, target, siblings } of overlays) Object.assign(overlay, target, siblings);
    overlays = [];
    return node;
  };
}
