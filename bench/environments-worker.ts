// The control plane of environments.ts.
import { environments } from '../src/environments/index.ts';
import { serveCosts } from './control-plane.ts';

await serveCosts(() => [environments()]);
