import { expect, test } from 'vitest';
import { Reachability } from './reachability.ts';

test('the first answer after none is told, once; a server that can only say 5xx is away', async () => {
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
