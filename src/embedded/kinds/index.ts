// The built-in kinds of the embedded API server: what they are called, how they look, what they accept.
export { decodeObject } from './decode.ts';
export { definition } from './definitions.ts';
export { builtinResources } from './registry.ts';
