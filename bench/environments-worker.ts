// The control plane of environments.ts, without waiting for proxies.
import { environments } from '../src/environments/index.ts';
import { serveCosts } from './control-plane.ts';

await serveCosts(() => environments({ settleMs: 0 }));
