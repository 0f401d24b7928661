import { describe, expect, test } from 'vitest';
import { durationFlag, withClusterFlagsLast, withNegatedSwitches } from './options.ts';

describe('durationFlag', () => {
  test.each([
    ['90s', 90_000],
    ['2m', 120_000],
    ['1m30s', 90_000],
    ['1.5s', 1_500],
    ['250ms', 250],
    ['1h', 3_600_000],
    ['2d', 172_800_000],
  ])('parses %s', (text, ms) => {
    expect(durationFlag(text)).toBe(ms);
  });

  test.each(['', '5', 's', '5 s', '-5s', '5s!', '5w'])('rejects "%s"', (text) => {
    expect(() => durationFlag(text)).toThrow('A duration is a number with a unit');
  });
});

test('withNegatedSwitches accepts --wait=false, as kubectl does, and leaves arguments after -- unchanged', () => {
  expect(withNegatedSwitches(['env', '--wait=false', '--wait=true', '--', '--wait=false'])).toEqual([
    'env',
    '--no-wait',
    '--wait',
    '--',
    '--wait=false',
  ]);
});

test('withClusterFlagsLast accepts cluster flags before the command, as kubectl does', () => {
  expect(
    withClusterFlagsLast(['node', 'offshoot', '--context', 'x', '--namespace=shop', 'env', 'list', '--', 'a']),
  ).toEqual(['node', 'offshoot', 'env', 'list', '--context', 'x', '--namespace=shop', '--', 'a']);
  expect(withClusterFlagsLast(['node', 'offshoot', '--version'])).toEqual(['node', 'offshoot', '--version']);
});
