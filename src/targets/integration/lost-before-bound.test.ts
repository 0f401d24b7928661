// A namespace or space is deleted while a claim is being bound to it, and the binder crashes between any two writes: it
// is replaced if the claim was not bound yet, and otherwise not.
import { describe, expect, test } from 'vitest';
import type { Action, ClassName } from '../../../test/support/claim-model/actions.ts';
import { ModelWorld } from '../../../test/support/claim-model/world.ts';
import { DeploymentTargetClaim } from '../../api/targets.ts';
import { wasBound } from '../world.ts';

/** More writes than the binder needs to bind a claim. */
const WRITES = 10;

const DELETIONS: readonly (readonly [string, readonly ClassName[], Action])[] = [
  ['namespace', ['sandbox', 'sandbox-kept', 'room', 'room-kept', 'warm'], { do: 'delete namespace', nth: 0 }],
  ['other namespace', ['warm'], { do: 'delete namespace', nth: 1 }],
  ['space', ['sandbox', 'sandbox-kept'], { do: 'delete space', nth: 0 }],
  ['space request', ['sandbox', 'sandbox-kept'], { do: 'delete request', claim: 'a' }],
];

/** Whether the claim was bound before the deletion, and whether it is Ready in the end. */
async function deleteWhileBinding(
  ofClass: ClassName,
  writes: number,
  deletion: readonly Action[],
): Promise<[boolean, boolean]> {
  const world = await ModelWorld.start();
  try {
    const claim = () => world.all(DeploymentTargetClaim)[0]!;
    await world.act({ do: 'doom', process: 'binder', writes });
    await world.act({ do: 'claim', name: 'a', class: ofClass });
    await world.settle();
    const wasBoundBefore = wasBound(claim());
    for (const action of deletion) expect(await world.act(action)).toEqual([]);
    await world.act({ do: 'start', process: 'all' });
    expect(await world.settle(), `after ${writes} writes`).toEqual([]);
    const ready = claim().status?.conditions?.find(({ type }) => type === 'Ready');
    return [wasBoundBefore, ready?.status === 'True'];
  } finally {
    await world.stop();
  }
}

describe.each(DELETIONS.flatMap(([what, classes, action]) => classes.map((of) => [what, of, action] as const)))(
  'deleting the %s of a claim of class %s',
  (_what, ofClass, deletion) => {
    test.each<[string, readonly Action[]]>([
      ['', []],
      [', with the claimRef of its target cleared', [{ do: 'edit target', name: 'a-dt', claim: '' }]],
    ])(
      'replaces it only before the claim is bound: after any write of the binder%s',

      async (_how, before) => {
        const ends: [boolean, boolean][] = [];
        for (let writes = 1; writes <= WRITES; writes++)
          ends.push(await deleteWhileBinding(ofClass, writes, [...before, deletion]));
        // The deleted one may be another one of the pool.
        const mayBeAnother = ofClass === 'warm';
        expect(
          ends.filter(([wasBoundBefore, isReady]) => wasBoundBefore === isReady && !(wasBoundBefore && mayBeAnother)),
        ).toEqual([]);
        expect(new Set(ends.map(([wasBoundBefore]) => wasBoundBefore))).toEqual(new Set([true, false]));
      },
    );
  },
);
