import { expect, test } from 'vitest';
import { FakeClock, settle } from '../../../test/support/fake-clock.ts';
import { Reachability } from './reachability.ts';

test('the first answer after an outage is reported once; a server that answers only 5xx is unreachable', async () => {
  const reachability = new Reachability();
  const end = new AbortController();
  let returns = 0;
  reachability.onReturn(() => returns++, end.signal);
  for (const code of [200, 404, 0, 503, 0]) reachability.report(code);
  expect(returns).toBe(0);
  const returned = reachability.untilReturn(end.signal);
  reachability.report(200);
  reachability.report(200);
  await returned;
  expect(returns).toBe(1);
  end.abort();
  reachability.report(0);
  reachability.report(200);
  await reachability.untilReturn(end.signal);
  expect(returns).toBe(1);
});

test('an unreachable server is probed every two seconds, and no longer when it is back', async () => {
  const reachability = new Reachability();
  const clock = new FakeClock();
  const end = new AbortController();
  const answers = [0, 500, 200];
  let asked = 0;
  const ask = (): Promise<void> => {
    reachability.report(answers[asked++]!);
    return Promise.reject(new Error('no JSON'));
  };
  const asking = reachability.keepAsking(ask, clock, end.signal);
  const pass = async (): Promise<void> => {
    await clock.advance(2_000);
    await settle();
  };
  await pass();
  expect(asked).toBe(0);
  reachability.report(0);
  await settle();
  for (let times = 0; times < 5; times++) await pass();
  expect(asked).toBe(3);
  end.abort();
  await asking;
});
