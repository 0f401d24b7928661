// CEL functions for semantic versions, and time conversions that the library lacks.
import type { Environment } from '@marcbachmann/cel-js';

const pattern =
  /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(?:-([0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*))?(?:\+[0-9A-Za-z.-]+)?$/;

class Semver {
  readonly numbers: readonly bigint[];
  readonly pre: readonly string[];

  constructor(text: string) {
    const found = pattern.exec(text);
    if (found === null) throw new Error(`No Major.Minor.Patch elements found`);
    this.numbers = found.slice(1, 4).map((part) => BigInt(part));
    this.pre = found[4]?.split('.') ?? [];
  }
}

/** Removes a leading `v` and leading zeroes, and adds missing numbers. */
function normalised(text: string): string {
  const [, core = '', rest = ''] = /^v?([\d.]*)(.*)$/s.exec(text) ?? [];
  const numbers = core.split('.').map((part) => part.replace(/^0+(?=\d)/, ''));
  while (numbers.length < 3) numbers.push('0');
  return `${numbers.join('.')}${rest}`;
}

function isSemver(text: string): boolean {
  return pattern.test(text);
}

function order(one: Semver, other: Semver): number {
  for (const [index, number] of one.numbers.entries()) {
    if (number !== other.numbers[index]) return number < other.numbers[index]! ? -1 : 1;
  }
  // A version is higher than its prereleases.
  if (one.pre.length === 0 || other.pre.length === 0) return other.pre.length - one.pre.length;
  for (const [index, part] of one.pre.entries()) {
    const compared = index < other.pre.length ? orderParts(part, other.pre[index]!) : 1;
    if (compared !== 0) return compared;
  }
  return one.pre.length - other.pre.length;
}

function orderParts(one: string, other: string): number {
  const [first, second] = [/^\d+$/.test(one), /^\d+$/.test(other)];
  if (first && second) return Number(one) - Number(other);
  if (first !== second) return first ? -1 : 1;
  return one === other ? 0 : one < other ? -1 : 1;
}

function registerSemver(environment: Environment): void {
  environment
    .registerType('kubernetes.Semver', { ctor: Semver, fields: {} })
    .registerFunction('semver(string): kubernetes.Semver', (text: string) => new Semver(text))
    .registerFunction(
      'semver(string, bool): kubernetes.Semver',
      (text: string, loose: boolean) => new Semver(loose ? normalised(text) : text),
    )
    .registerFunction('isSemver(string): bool', isSemver)
    .registerFunction('isSemver(string, bool): bool', (text: string, loose: boolean) =>
      isSemver(loose ? normalised(text) : text),
    );
  for (const [index, name] of ['major', 'minor', 'patch'].entries()) {
    environment.registerFunction(`kubernetes.Semver.${name}(): int`, ({ numbers }: Semver) => numbers[index]);
  }
  const compare = (name: string, result: string, of: (compared: number) => unknown): void => {
    environment.registerFunction(
      `kubernetes.Semver.${name}(kubernetes.Semver): ${result}`,
      (one: Semver, other: Semver) => of(Math.sign(order(one, other))),
    );
  };
  compare('isLessThan', 'bool', (compared) => compared < 0);
  compare('isGreaterThan', 'bool', (compared) => compared > 0);
  compare('compareTo', 'int', (compared) => BigInt(compared));
}

const timestamp = 'google.protobuf.Timestamp';
const duration = 'google.protobuf.Duration';

function registerTimes(environment: Environment): void {
  environment
    .registerFunction(`timestamp(${timestamp}): ${timestamp}`, (time: Date) => time)
    .registerFunction(`duration(${duration}): ${duration}`, (time: unknown) => time)
    .registerFunction(`int(${timestamp}): int`, (time: Date) => BigInt(Math.floor(time.getTime() / 1000)))
    .registerFunction(`string(${timestamp}): string`, (time: Date) => time.toISOString().replace(/\.?0*Z$/, 'Z'))
    .registerFunction(`string(${duration}): string`, (time: { toString(): string }) => time.toString());
}

export function registerScalars(environment: Environment): void {
  registerSemver(environment);
  registerTimes(environment);
}
