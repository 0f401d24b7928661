// The random actions of the claim model: what users do to claims, targets, classes and space requests, and faults.
import * as fc from 'fast-check';
import { PROCESS_NAMES } from './processes.ts';
import type { ProcessName } from './processes.ts';

/** Classes by name. Claims also name classes that do not exist. */
export const CLASSES = {
  sandbox: { provisioner: 'appstudio.redhat.com/devsandbox', reclaimPolicy: 'Delete' },
  'sandbox-kept': { provisioner: 'appstudio.redhat.com/devsandbox', reclaimPolicy: 'Retain' },
  room: { provisioner: 'offshoot.dev/namespace', reclaimPolicy: 'Delete' },
  warm: { provisioner: 'offshoot.dev/namespace', reclaimPolicy: 'Delete', parameters: { warm: 1 } },
  'room-kept': { provisioner: 'offshoot.dev/namespace', reclaimPolicy: 'Retain' },
  other: { provisioner: 'somebody-else', reclaimPolicy: 'Retain' },
} as const;
export type ClassName = keyof typeof CLASSES;
export function parametersOf(name: ClassName): Readonly<Record<string, unknown>> | undefined {
  const ofClass = CLASSES[name];
  return 'parameters' in ofClass ? ofClass.parameters : undefined;
}
type Policy = 'Delete' | 'Retain';

export type Action =
  | { do: 'claim'; name: string; class: string; target?: string; ttl?: string }
  | { do: 'edit claim'; name: string; class?: string; target?: string }
  | { do: 'delete claim' | 'force claim'; name: string }
  | { do: 'target'; name: string; class: string; claim?: string; isUsable?: boolean }
  | { do: 'edit target'; name: string; class?: string; claim?: string; isUsable?: boolean; label?: string }
  | { do: 'delete target' | 'force target' | 'recycle target'; name: string }
  | { do: 'class'; name: ClassName; policy: Policy }
  | { do: 'delete class'; name: ClassName }
  | { do: 'delete request' | 'spoil request'; claim: string }
  | { do: 'delete namespace' | 'delete space' | 'delete secret' | 'spoil secret' | 'delete account'; nth: number }
  | { do: 'environment' | 'delete environment'; claim: string }
  | { do: 'hold namespaces' | 'let namespaces go' }
  | { do: 'wait'; ms: number }
  | { do: 'start' | 'stop'; process: ProcessName | 'all' }
  | { do: 'doom'; process: ProcessName; writes: number }
  | { do: 'pause'; turns: number }
  | { do: 'settle' };

export const MINUTE = 60_000;
const TTL_MS = 60 * MINUTE;

const claimName = fc.constantFrom('a', 'b', 'c');
const ownTarget = fc.constantFrom('t', 'u');
const anyTarget = fc.constantFrom('t', 'u', 'a-dt', 'b-dt', 'c-dt');
const className = fc.constantFrom(...(Object.keys(CLASSES) as ClassName[]));
const anyClass = fc.oneof({ weight: 4, arbitrary: className }, fc.constantFrom('', 'none'));
const policy = fc.constantFrom<Policy>('Delete', 'Retain');
const aProcess = fc.constantFrom(...PROCESS_NAMES);
const sometimes = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined, freq: 3 });

function action(what: Action['do'], fields: Record<string, fc.Arbitrary<unknown>> = {}) {
  return fc.record({ do: fc.constant(what), ...fields }).map((each) => JSON.parse(JSON.stringify(each)) as Action);
}

const weighted: readonly (readonly [number, fc.Arbitrary<Action>])[] = [
  [
    8,
    action('claim', {
      name: claimName,
      class: anyClass,
      target: sometimes(anyTarget),
      ttl: sometimes(fc.constant('1h')),
    }),
  ],
  [
    3,
    action('edit claim', {
      name: claimName,
      class: sometimes(anyClass),
      target: sometimes(fc.oneof(anyTarget, fc.constant(''))),
    }),
  ],
  [4, action('delete claim', { name: claimName })],
  [1, action('force claim', { name: claimName })],
  [
    4,
    action('target', {
      name: ownTarget,
      class: anyClass,
      claim: sometimes(claimName),
      isUsable: sometimes(fc.constant(false)),
    }),
  ],
  [
    3,
    action('edit target', {
      name: anyTarget,
      isUsable: sometimes(fc.boolean()),
      label: sometimes(fc.constantFrom('x', 'y')),
    }),
  ],
  // Users must not change the class of a provisioned target, nor assign it to another claim.
  [1, action('edit target', { name: ownTarget, class: anyClass })],
  [2, action('edit target', { name: ownTarget, claim: claimName })],
  [2, action('edit target', { name: anyTarget, claim: fc.constant('') })],
  [3, action('delete target', { name: anyTarget })],
  [1, action('force target', { name: anyTarget })],
  [2, action('recycle target', { name: anyTarget })],
  [1, action('class', { name: className, policy })],
  [1, action('delete class', { name: className })],
  [1, action('delete request', { claim: claimName })],
  [1, action('spoil request', { claim: claimName })],
  [2, action('delete namespace', { nth: fc.nat(4) })],
  [1, action('delete space', { nth: fc.nat(2) })],
  [1, action('delete secret', { nth: fc.nat(4) })],
  [1, action('spoil secret', { nth: fc.nat(4) })],
  [1, action('delete account', { nth: fc.nat(4) })],
  [2, action('environment', { claim: claimName })],
  [1, action('delete environment', { claim: claimName })],
  [1, action('hold namespaces')],
  [1, action('let namespaces go')],
  [4, action('wait', { ms: fc.constantFrom(1000, 2 * MINUTE + 1000, 11 * MINUTE, TTL_MS) })],
  [2, action('stop', { process: fc.oneof({ weight: 5, arbitrary: aProcess }, fc.constant('all')) })],
  [6, action('start', { process: fc.constant('all') })],
  [3, action('doom', { process: aProcess, writes: fc.integer({ min: 1, max: 8 }) })],
  [8, action('pause', { turns: fc.integer({ min: 1, max: 20 }) })],
  [14, action('settle')],
];

/** A sequence of actions. */
export const someActions: fc.Arbitrary<Action[]> = fc.array(
  fc.oneof(...weighted.map(([weight, arbitrary]) => ({ weight, arbitrary }))),
  { minLength: 10, maxLength: 60, size: 'max' },
);
