import { stripVTControlCharacters } from 'node:util';
import { expect, test } from 'vitest';
import { createLogger } from './logger.ts';

function lines(
  format: 'json' | 'human',
  level?: string,
): { logger: ReturnType<typeof createLogger>; written: string[] } {
  const written: string[] = [];
  const logger = createLogger({ format, ...(level && { level }), write: (line) => written.push(line) });
  return { logger, written };
}

test('one JSON object a line for programs', () => {
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

test('one readable line for a person, with the reason of a failure', () => {
  const { logger, written } = lines('human');
  logger.warn({ key: 'team/a', err: new Error('forbidden') }, 'reconcile failed');
  expect(stripVTControlCharacters(written.join(''))).toMatch(
    /^\d\d:\d\d:\d\d\.\d{3} warn {2}reconcile failed: forbidden key=team\/a\n$/,
  );
});

test('below its level nothing is written', () => {
  const { logger, written } = lines('json', 'warn');
  logger.info('quiet');
  expect(written).toEqual([]);
});
