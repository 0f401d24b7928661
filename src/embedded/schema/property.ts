// Finds the schema of a field. Names such as `constructor` and `__proto__` are names like all others.
import type { Schema } from './types.ts';

/** The schema of a field that is declared by name. */
export function propertySchema({ properties }: Schema, name: string): Schema | undefined {
  return properties !== undefined && Object.hasOwn(properties, name) ? properties[name] : undefined;
}
