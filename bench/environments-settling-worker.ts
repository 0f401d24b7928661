// The control plane of environments.ts with default settings: routes wait until proxies have their DestinationRule.
import { environments } from '../src/environments/index.ts';
import { serveCosts } from './control-plane.ts';

await serveCosts(() => environments());
