// Compares which specs of a suite fail on one cluster only with the list of known differences.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parse } from 'yaml';
import type { Outcome } from './suite.ts';

export type Side = 'embedded' | 'real';

export interface Known {
  readonly reason: string;
  readonly suite: string;
  /** The cluster on which the specs fail; on the other one they pass. */
  readonly fails: Side;
  /** Names. One that ends in `*` is a prefix; at least one spec with that prefix fails. */
  readonly specs: readonly string[];
  /** The specs race, and sometimes pass. */
  readonly sometimes?: boolean;
}

export function readKnown(): readonly Known[] {
  return parse(readFileSync(path.join(import.meta.dirname, 'known.yaml'), 'utf8')) as readonly Known[];
}

interface Findings {
  /** Specs that fail on one side only and are not listed, with the error. */
  readonly unknown: readonly string[];
  /** Entries whose specs no longer fail. */
  readonly stale: readonly string[];
}

/** Compares the outcomes of one suite on both clusters. */
export function compare(outcomes: Readonly<Record<Side, Outcome>>, known: readonly Known[]): Findings {
  const found = (['embedded', 'real'] as const).map((side) => {
    const other = outcomes[side === 'embedded' ? 'real' : 'embedded'];
    const entries = known.filter(({ fails }) => fails === side);
    const listed = entries.flatMap(({ specs }) => specs);
    const certain = entries.filter(({ sometimes }) => sometimes !== true).flatMap(({ specs }) => specs);
    const failed = [...outcomes[side].failed].filter(([name]) => !other.failed.has(name));
    return {
      unknown: failed
        .filter(([name]) => !listed.some((pattern) => matches(pattern, name)))
        .map(([name, why]) => `fails on the ${side} cluster alone: ${name}: ${why}`),
      stale: certain
        .filter((pattern) => !failed.some(([name]) => matches(pattern, name)))
        .map((pattern) => `does not fail on the ${side} cluster alone any more: ${pattern}`),
    };
  });
  return { unknown: found.flatMap(({ unknown }) => unknown), stale: found.flatMap(({ stale }) => stale) };
}

function matches(pattern: string, name: string): boolean {
  return pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern;
}
