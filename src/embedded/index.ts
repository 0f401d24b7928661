// A Kubernetes API in this process.
export { startEmbedded } from './server.ts';
export type { Embedded, EmbeddedOptions } from './server.ts';
