// Validates limit ranges: minima, defaults and maxima must not contradict each other.
import type { ApiObject } from '../../resource.ts';
import { type FieldError, forbidden, invalid } from '../../schema/field-error.ts';
import { compareQuantities, parseQuantity } from '../../../kube/quantity.ts';
import { at, isObject, objects, stringMap, text } from '../read.ts';

type Amounts = Readonly<Record<string, string>>;

export function limitRangeErrors(object: ApiObject): FieldError[] {
  return objects(object, 'spec', 'limits').flatMap((limit, index) => limitErrors(limit, `spec.limits[${index}]`));
}

function limitErrors(limit: ApiObject, path: string): FieldError[] {
  const errors: FieldError[] = [];
  if (text(limit, 'type') === 'Pod') {
    for (const field of ['default', 'defaultRequest']) {
      if (!isObject(at(limit, field))) continue;
      errors.push(forbidden(`${path}.${field}`, "may not be specified when `type` is 'Pod'"));
    }
  }
  const [min, max] = [stringMap(limit, 'min'), stringMap(limit, 'max')];
  const [limits, requests] = [stringMap(limit, 'default'), stringMap(limit, 'defaultRequest')];
  const ratios = stringMap(limit, 'maxLimitRequestRatio');
  const names = new Set([min, max, limits, requests, ratios].flatMap((amounts) => Object.keys(amounts)));
  for (const name of [...names].sort()) {
    const above = (one: Amounts, other: Amounts): boolean => isAbove(one[name], other[name]);
    const refuse = (field: string, value: string | undefined, why: string): void =>
      void errors.push(invalid(`${path}.${field}[${name}]`, value, why));
    const [low, high, limitValue, request] = [min[name], max[name], limits[name], requests[name]];
    if (above(min, max)) refuse('min', low, `min value ${low} is greater than max value ${high}`);
    if (above(min, requests)) {
      refuse('defaultRequest', request, `min value ${low} is greater than default request value ${request}`);
    }
    if (above(requests, max)) {
      refuse('defaultRequest', request, `default request value ${request} is greater than max value ${high}`);
    }
    if (above(requests, limits)) {
      refuse(
        'defaultRequest',
        request,
        `default request value ${request} is greater than default limit value ${limitValue}`,
      );
    }
    if (above(min, limits)) refuse('default', low, `min value ${low} is greater than default value ${limitValue}`);
    if (above(limits, max)) refuse('default', high, `default value ${limitValue} is greater than max value ${high}`);
    const ratio = ratios[name];
    if (isAbove('1', ratio)) {
      refuse('maxLimitRequestRatio', ratio, `ratio ${ratio} is less than 1`);
    }
  }
  return errors;
}

function isAbove(one: string | undefined, other: string | undefined): boolean {
  const [left, right] = [parseQuantity(one ?? ''), parseQuantity(other ?? '')];
  return left !== undefined && right !== undefined && compareQuantities(left, right) > 0;
}
