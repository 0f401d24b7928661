// Kubernetes quantities (100m, 1.5Gi, 3e6): parsing, comparing, and the canonical form that the server writes.

/** A quantity in billionths, the finest step that Kubernetes keeps. */
export interface Quantity {
  readonly nano: bigint;
  readonly format: 'binary' | 'decimal' | 'exponent';
}

const shape = /^([+-]?)(\d+(?:\.\d*)?|\.\d+)(Ki|Mi|Gi|Ti|Pi|Ei|[numkMGTPE]|[eE][+-]?\d+)?$/;
const decimalPowers = new Map([
  ['n', -9],
  ['u', -6],
  ['m', -3],
  ['', 0],
  ['k', 3],
  ['M', 6],
  ['G', 9],
  ['T', 12],
  ['P', 15],
  ['E', 18],
]);
const binaryUnits = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'];
const billion = 1_000_000_000n;
/** An exponent beyond this does not change the result: values saturate long before. */
const maxExponent = 60;
/** Nor do more digits than this, on either side of the point. Arithmetic with a million digits would take minutes. */
const maxDigits = 100;

/** The message of the server for a string that is not a quantity. */
export const quantityProblem =
  "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";

function dividedUp(value: bigint, divisor: bigint): bigint {
  return (value + divisor - 1n) / divisor;
}

/** Parses a quantity; undefined if it is invalid. Fractions below a billionth round away from zero. */
export function parseQuantity(text: string): Quantity | undefined {
  const match = shape.exec(text);
  if (match === null) return undefined;
  const [, sign, number, suffix = ''] = match;
  const [allOfWhole = '', allOfFraction = ''] = number!.split('.');
  const whole = allOfWhole.replace(/^0+/, '').slice(0, maxDigits);
  const isCut = /[1-9]/.test(allOfFraction.slice(maxDigits));
  const fraction = `${allOfFraction.slice(0, maxDigits)}${isCut ? '1' : ''}`;
  const digits = BigInt(`${whole}${fraction}` || '0');
  let magnitude: bigint;
  let format: Quantity['format'] = 'decimal';
  const binary = suffix === '' ? 0 : binaryUnits.indexOf(suffix);
  if (binary > 0) {
    format = 'binary';
    magnitude = dividedUp(digits * billion * 1024n ** BigInt(binary), 10n ** BigInt(fraction.length));
  } else {
    let power = decimalPowers.get(suffix);
    if (power === undefined) {
      format = 'exponent';
      power = Math.min(Math.max(Number(suffix.slice(1)), -maxExponent), maxExponent);
    }
    const shift = power - fraction.length + 9;
    magnitude = shift >= 0 ? digits * 10n ** BigInt(shift) : dividedUp(digits, 10n ** BigInt(-shift));
  }
  return { nano: sign === '-' ? -magnitude : magnitude, format };
}

/** The canonical text: the largest suffix that needs no fraction. */
export function formatQuantity({ nano, format }: Quantity): string {
  if (nano === 0n) return '0';
  const sign = nano < 0n ? '-' : '';
  const magnitude = nano < 0n ? -nano : nano;
  if (format === 'binary' && magnitude % billion === 0n && magnitude / billion >= 1024n) {
    let value = magnitude / billion;
    let unit = 0;
    while (unit < binaryUnits.length - 1 && value % 1024n === 0n) {
      value /= 1024n;
      unit += 1;
    }
    return `${sign}${value}${binaryUnits[unit]}`;
  }
  let value = magnitude;
  let power = -9;
  while (power < 18 && value % 1000n === 0n) {
    value /= 1000n;
    power += 3;
  }
  if (format === 'exponent') return power === 0 ? `${sign}${value}` : `${sign}${value}e${power}`;
  const suffix = [...decimalPowers].find(([, candidate]) => candidate === power)?.[0] ?? '';
  return `${sign}${value}${suffix}`;
}

/** Negative, zero or positive as `a` is less than, equal to or more than `b`. */
export function compareQuantities(a: Quantity, b: Quantity): number {
  return a.nano < b.nano ? -1 : a.nano > b.nano ? 1 : 0;
}
