// The warm pool beside the binder.
import { expect, test } from 'vitest';
import { claim, targetClass } from '../../../test/support/claims.ts';
import { dtc, runningWithoutSpaces } from '../../../test/support/running-claims.ts';
import { DeploymentTarget } from '../../api/targets.ts';

test.each([1, 2, 3])(
  'one of several claims that arrive at once gets the free target (%s beyond the quota)',
  async (n) => {
    const ofClass = targetClass('Delete', 'room', 'offshoot.dev/namespace', { warm: 1, maxPerNamespace: 2 });
    const w = await runningWithoutSpaces().have(ofClass);
    const asking = { deploymentTargetClassName: 'room' };
    await w.have(claim('first', asking));
    await w.settle();
    const pooled = [...w.api.all(DeploymentTarget).values()].filter(({ metadata }) => metadata.name !== 'first-dt');
    expect(pooled).toHaveLength(1);
    const names = Array.from({ length: n + 1 }, (_, at) => `claim-${at}`);
    await w.have(...names.map((name) => claim(name, asking)));
    await w.settle();
    const bound = names.map((name) => dtc(w, name)!).filter(({ status }) => status?.phase === 'Bound');
    expect(bound.map(({ spec }) => spec.targetName)).toEqual([pooled[0]!.metadata.name]);
  },
);
