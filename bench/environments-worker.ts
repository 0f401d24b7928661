// The control plane of environments.ts, without the time that is for proxies alone.
import { environments } from '../src/environments/index.ts';
import { serveCosts } from './control-plane.ts';

await serveCosts(() => environments({ settleMs: 0 }));
