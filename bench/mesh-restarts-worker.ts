// The control plane of mesh-restarts.ts.
import { defaultMeshSettings, meshRestarts } from '../src/mesh/index.ts';
import { serveCosts } from './control-plane.ts';

await serveCosts(() => meshRestarts({ ...defaultMeshSettings, settleMs: 0, reconnectMs: 0 }).controllers);
