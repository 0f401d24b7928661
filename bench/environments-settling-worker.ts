// The control plane of environments.ts as people run it: routes wait until proxies know their rule.
import { environments } from '../src/environments/index.ts';
import { serveCosts } from './control-plane.ts';

await serveCosts(() => environments());
