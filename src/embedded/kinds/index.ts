// The built-in kinds of the embedded API server: names, schemas, defaults, validation.
export { convertObject } from './convert.ts';
export { decodeObject, pruneObject } from './decode.ts';
export { emptyObject } from './empty-objects.ts';
export { setDefaults } from './defaults/index.ts';
export { prepareForCreate, prepareForUpdate, raisesGeneration } from './prepare.ts';
export { builtinResources } from './registry.ts';
export { validate } from './validate/index.ts';
export { warningsOf } from './warnings.ts';
