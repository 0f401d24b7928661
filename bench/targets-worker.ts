// The control plane of targets.ts.
import { defaultSettings, targets } from '../src/targets/index.ts';
import { serveCosts } from './control-plane.ts';

await serveCosts(({ server, caPem = '' }) => targets({ cluster: { ...defaultSettings.cluster, server, caPem } }));
