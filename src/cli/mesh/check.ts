// What `offshoot mesh` checks of manifests before a cluster sees them.
import { istio } from '../../api/istio.ts';
import type { Istio } from '../../api/istio.ts';
import { specProblems } from '../../mesh/index.ts';
import type { Check } from '../manifests/check.ts';

/** Istio resources: what the controller would refuse is only warned of, because the server takes it. */
export const istioCheck: Check = {
  resource: istio,
  judge(object) {
    return specProblems((object as Istio).spec ?? {}, true).map(({ at, failure }) => {
      return { at: ['spec', ...at], message: failure.message, isWarning: true };
    });
  },
};
