// The built-in kinds of the embedded API server: what they are called, how they look, what they accept.
export { definition } from './definitions.ts';
export { builtinResources } from './registry.ts';
