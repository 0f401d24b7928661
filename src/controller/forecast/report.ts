// A forecast as plain data for people and programs. What is not known yet, such as a name derived from a uid, is shown
// as "…": the forecast is made twice with different uids, and what differs depends on them.
import { keyOf } from '../../kube/objects.ts';
import type { KubeObject } from '../../kube/objects.ts';
import type { Change } from './changes.ts';
import { SERVER_SET, withoutFollowing } from './diff.ts';
import type { FieldChange } from './diff.ts';
import { forecast } from './forecast.ts';
import type { Forecast, ForecastOptions, Stalled } from './forecast.ts';

/** Replaces what is not known yet. */
export const UNKNOWN = '…';

export interface ReportedChange {
  readonly do: Change['do'];
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace?: string;
  readonly name: string;
  /** The content of a new object. */
  readonly object?: Readonly<Record<string, unknown>>;
  /** The changed fields of an existing object. */
  readonly fields?: readonly FieldChange[];
  /** The controllers that write it, `you` or `cluster`. */
  readonly by: readonly string[];
}

export interface ReportedStall {
  readonly kind: string;
  readonly object: string;
  readonly controller: string;
  readonly reason: string;
  readonly message: string;
}

export interface ForecastReport {
  readonly changes: readonly ReportedChange[];
  readonly stalled: readonly ReportedStall[];
}

/** Makes a forecast and reports what `pick` selects from it; what is not known yet is masked. */
export function reportForecast<R>(options: Omit<ForecastOptions, 'seed'>, pick: (made: Forecast) => R): R {
  const first = pick(forecast({ ...options, seed: '0' }));
  if (options.isUidFree) return first;
  for (const seed of ['1', '2', '3']) {
    const masked = mask(first, pick(forecast({ ...options, seed })));
    if (masked !== undefined) return masked as R;
  }
  // Even the order depends on uids: then one possible forecast is shown.
  return first;
}

/** The changes of a forecast (by default all) and its stalled objects, as plain data. */
export function reportOf({ stalled, changes: all }: Forecast, changes = all): ForecastReport {
  return { changes: changes.map(reportedChange), stalled: stalled.map(reportedStall) };
}

/** A change as plain data. */
export function reportedChange({ do: verb, kind, before, after, fields, by }: Change): ReportedChange {
  const { apiVersion, metadata } = (after ?? before)!;
  return {
    do: verb,
    apiVersion,
    kind: kind.kind,
    ...(metadata.namespace !== undefined && { namespace: metadata.namespace }),
    name: metadata.name,
    ...((verb === 'make' || verb === 'replace') && { object: contentOf(after!) }),
    ...(verb === 'change' && { fields }),
    by,
  };
}

function reportedStall({ kind, object, controller, reason, message }: Stalled): ReportedStall {
  return { kind: kind.kind, object: keyOf(object.metadata), controller, reason, message };
}

/** The content of an object, without what the server adds. */
function contentOf(object: KubeObject): Readonly<Record<string, unknown>> {
  const metadata = Object.fromEntries(Object.entries(object.metadata).filter(([name]) => !SERVER_SET.has(name)));
  const { data, status, ...rest } = object as KubeObject & { data?: object; status?: unknown };
  const isSecret = object.kind === 'Secret';
  const content = withoutFollowing(status);
  const hidden = Object.fromEntries(Object.keys(data ?? {}).map((key) => [key, '(hidden)']));
  return {
    ...rest,
    metadata,
    ...(data !== undefined && { data: isSecret ? hidden : data }),
    ...(isNotEmpty(content) && { status: content }),
  };
}

function isNotEmpty(status: unknown): boolean {
  return typeof status === 'object' && status !== null && Object.keys(status).length > 0;
}

/** One value with what differs in the other masked; undefined if their shapes differ. */
function mask(one: unknown, other: unknown): unknown {
  if (one === other) return one;
  if (typeof one === 'string' && typeof other === 'string') return maskText(one, other);
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) return undefined;
  const entries = Object.entries(one);
  if (entries.length !== Object.keys(other).length) return undefined;
  const masked: [string, unknown][] = [];
  for (const [name, value] of entries) {
    const counterpart = (other as Readonly<Record<string, unknown>>)[name];
    const part = mask(value, counterpart);
    if (part === undefined && (value !== undefined || counterpart !== undefined)) return undefined;
    masked.push([name, part]);
  }
  return Array.isArray(one) ? masked.map(([, value]) => value) : Object.fromEntries(masked);
}

/** Word by word: `team-dev-2afbc` and `team-dev-91d0e` are `team-dev-…`. */
function maskText(one: string, other: string): string {
  const [words, others] = [one, other].map((text) => text.split(/([^A-Za-z0-9]+)/)) as [string[], string[]];
  const isAlike = words.length === others.length && words.every((word, i) => i % 2 === 0 || word === others[i]);
  if (!isAlike) return UNKNOWN;
  const text = words.map((word, i) => (word === others[i] ? word : UNKNOWN)).join('');
  // Every part of a uid is unknown.
  return text.replaceAll(/…(-…)+/g, UNKNOWN);
}
