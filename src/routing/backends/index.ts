// All back ends, by name.
import { appMeshApi } from './appmesh-api.ts';
import { appMeshCrd } from './appmesh-crd.ts';

export const BACKENDS = { 'appmesh-api': appMeshApi, 'appmesh-crd': appMeshCrd } as const;

export type BackendName = keyof typeof BACKENDS;
