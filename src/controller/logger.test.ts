import { stripVTControlCharacters } from 'node:util';
import { expect, test } from 'vitest';
import { apiError } from '../../test/support/fake-client.ts';
import { createLogger } from './logger.ts';

function lines(
  format: 'json' | 'human',
  level?: string,
): { logger: ReturnType<typeof createLogger>; written: string[] } {
  const written: string[] = [];
  const logger = createLogger({ format, ...(level && { level }), write: (line) => written.push(line) });
  return { logger, written };
}

test('the JSON format has one object per line', () => {
  const { logger, written } = lines('json');
  logger.child({ controller: 'copier' }).warn({ key: 'team/a' }, 'reconcile failed');
  expect(JSON.parse(written[0]!)).toEqual({
    level: 40,
    time: expect.stringMatching(/^\d{4}-\d\d-\d\dT/) as string,
    controller: 'copier',
    key: 'team/a',
    msg: 'reconcile failed',
  });
});

test('the text format has one readable line, with the reason of a failure', () => {
  const { logger, written } = lines('human');
  logger.warn({ key: 'team/a', err: new Error('forbidden') }, 'reconcile failed');
  expect(stripVTControlCharacters(written.join(''))).toMatch(
    /^\d\d:\d\d:\d\d\.\d{3} warn {2}reconcile failed: forbidden key=team\/a\n$/,
  );
});

test('an error of the API server is logged without a stack, other errors with one', () => {
  const { logger, written } = lines('json');
  const refused = apiError(403, 'Forbidden');
  const step = Object.assign(new Error('own Thing team/a: no', { cause: refused }), { done: ['x'.repeat(5000)] });
  logger.warn({ err: step }, 'write refused');
  expect((JSON.parse(written[0]!) as { err: object }).err).toEqual({ type: 'Error', message: 'own Thing team/a: no' });
  logger.error({ err: new Error('unexpected') }, 'reconcile failed');
  expect(written[1]).toContain('logger.test.ts');
});

test('lines below the level are not written', () => {
  const { logger, written } = lines('json', 'warn');
  logger.info('quiet');
  expect(written).toEqual([]);
});
