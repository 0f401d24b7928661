// The checks of `offshoot mesh` on manifests, which run without a cluster.
import { istio } from '../../api/istio.ts';
import type { Istio } from '../../api/istio.ts';
import { specProblems } from '../../mesh/index.ts';
import type { Check } from '../manifests/check.ts';

/** Checks Istio resources. Problems are only warnings: the API server accepts them, the controller does not. */
export const istioCheck: Check = {
  resource: istio,
  judge(object) {
    return specProblems((object as Istio).spec ?? {}, true).map(({ at, failure }) => {
      return { at: ['spec', ...at], message: failure.message, isWarning: true };
    });
  },
};
