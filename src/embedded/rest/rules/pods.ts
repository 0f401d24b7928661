// Pods are given time to end.
import { part } from './types.ts';
import type { KindRules } from './types.ts';

const defaultGraceSeconds = 30;

export const podRules: KindRules = {
  graceSeconds: (object, requested) => {
    const spec = part(object, 'spec');
    const phase = part(object, 'status')['phase'];
    // Nothing runs that would need time: not yet on a node, or already ended.
    if ((spec['nodeName'] ?? '') === '' || phase === 'Succeeded' || phase === 'Failed') return 0;
    const wished = requested ?? spec['terminationGracePeriodSeconds'];
    if (typeof wished !== 'number') return defaultGraceSeconds;
    return wished < 0 ? 1 : wished;
  },
  returnsDeleted: true,
};
