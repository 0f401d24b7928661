export * from './client.ts';
export * from './objects.ts';
export * from './pki.ts';
