// What the routing controllers can be told, and what they do by default.
import type { BackendName } from '../backends/index.ts';
import type { TranslateOptions } from '../translate.ts';

export interface Settings extends TranslateOptions {
  /** Where meshes are written to. */
  readonly backend: BackendName;
  /** Another address than that of AWS, for tests. */
  readonly awsEndpoint?: string;
}

export const defaultSettings: Settings = { mode: 'strict', allowAll: true, backend: 'appmesh-crd' };
