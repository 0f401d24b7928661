// The settings of the routing controllers, with their defaults.
import type { BackendName } from '../backends/index.ts';
import type { TranslateOptions } from '../translate.ts';

export interface Settings extends TranslateOptions {
  /** Where meshes are written to. */
  readonly backend: BackendName;
  /** Overrides the address of AWS, for tests. */
  readonly awsEndpoint?: string;
}

export const defaultSettings: Settings = { mode: 'strict', allowAll: true, backend: 'appmesh-crd' };
