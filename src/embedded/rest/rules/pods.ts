// Pods are deleted with a grace period.
import { part } from './types.ts';
import type { KindRules } from './types.ts';

const defaultGraceSeconds = 30;

export const podRules: KindRules = {
  graceSeconds: (object, requested) => {
    const spec = part(object, 'spec');
    const phase = part(object, 'status')['phase'];
    // The pod is not scheduled yet or has finished: nothing needs time to stop.
    if ((spec['nodeName'] ?? '') === '' || phase === 'Succeeded' || phase === 'Failed') return 0;
    const seconds = requested ?? spec['terminationGracePeriodSeconds'];
    if (typeof seconds !== 'number') return defaultGraceSeconds;
    return seconds < 0 ? 1 : seconds;
  },
  returnsDeleted: true,
};
