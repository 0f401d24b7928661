// Finds the schema of a field, also for names such as `constructor` and `__proto__`.
import type { Schema } from './types.ts';

/** The schema of a declared field. */
export function propertySchema({ properties }: Schema, name: string): Schema | undefined {
  return properties !== undefined && Object.hasOwn(properties, name) ? properties[name] : undefined;
}
