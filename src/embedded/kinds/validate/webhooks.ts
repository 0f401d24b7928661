// Webhook configurations: which writes they hear of, under which conditions, and how they are called.
import type { ApiObject } from '../../resource.ts';
import { compileCondition } from '../../schema/cel/conditions.ts';
import { type FieldError, duplicate, invalid, required } from '../../schema/field-error.ts';
import { at, numberAt, objects, strings, text } from '../read.ts';
import { choice, nameErrors } from './common.ts';
import { dns1123SubdomainProblems, qualifiedNameProblems } from './names.ts';

export function webhookErrors(object: ApiObject): FieldError[] {
  return objects(object, 'webhooks').flatMap((webhook, index) => {
    const place = `webhooks[${index}]`;
    const errors: FieldError[] = [];
    const name = text(webhook, 'name');
    if (name === '') errors.push(required(`${place}.name`));
    else if (name.split('.').length < 3) {
      errors.push(invalid(`${place}.name`, name, 'should be a domain with at least three segments separated by dots'));
    } else errors.push(...nameErrors(dns1123SubdomainProblems, name, `${place}.name`));
    errors.push(...ruleErrors(objects(webhook, 'rules'), `${place}.rules`));
    errors.push(...choice(text(webhook, 'failurePolicy'), ['Fail', 'Ignore'], `${place}.failurePolicy`));
    errors.push(...choice(text(webhook, 'matchPolicy'), ['Equivalent', 'Exact'], `${place}.matchPolicy`));
    const effects = text(webhook, 'sideEffects');
    if (effects === '') errors.push(required(`${place}.sideEffects`, 'must specify one of None, NoneOnDryRun'));
    else errors.push(...choice(effects, ['None', 'NoneOnDryRun'], `${place}.sideEffects`));
    const timeout = numberAt(webhook, 'timeoutSeconds') ?? 10;
    if (timeout < 1 || timeout > 30) {
      errors.push(invalid(`${place}.timeoutSeconds`, timeout, 'the timeout value must be between 1 and 30 seconds'));
    }
    const given = ['url', 'service'].filter((field) => at(webhook, 'clientConfig', field) !== undefined).length;
    if (given !== 1) errors.push(required(`${place}.clientConfig`, 'exactly one of url or service is required'));
    const versions = strings(webhook, 'admissionReviewVersions');
    if (versions.length === 0) {
      errors.push(required(`${place}.admissionReviewVersions`, 'must specify one of v1, v1beta1'));
    } else if (!versions.includes('v1') && !versions.includes('v1beta1')) {
      const why = 'must include at least one of v1, v1beta1';
      errors.push(invalid(`${place}.admissionReviewVersions`, versions, why));
    }
    return [...errors, ...conditionErrors(objects(webhook, 'matchConditions'), `${place}.matchConditions`)];
  });
}

const operations = ['*', 'CONNECT', 'CREATE', 'DELETE', 'UPDATE'];

/** Which writes a webhook hears of: `*` stands for everything, and only alone. */
function ruleErrors(rules: readonly ApiObject[], path: string): FieldError[] {
  return rules.flatMap((rule, index) => {
    const place = `${path}[${index}]`;
    const alone = (field: string, what: string): FieldError[] => {
      const values = strings(rule, field);
      if (values.length === 0) return [required(`${place}.${field}`)];
      if (!values.includes('*') || values.length === 1) return [];
      return [invalid(`${place}.${field}`, values, `if '*' is present, must not specify other ${what}`)];
    };
    const asked = strings(rule, 'operations');
    return [
      ...alone('operations', 'operations'),
      ...asked.flatMap((name, item) => choice(name, operations, `${place}.operations[${item}]`)),
      ...alone('apiGroups', 'API groups'),
      ...alone('apiVersions', 'API versions'),
      ...resourceErrors(strings(rule, 'resources'), `${place}.resources`),
    ];
  });
}

function resourceErrors(resources: readonly string[], path: string): FieldError[] {
  if (resources.length === 0) return [required(path)];
  const plain = resources.filter((name) => !name.includes('/'));
  if (resources.includes('*/*') && resources.length > 1) {
    return [invalid(path, resources, "if '*/*' is present, must not specify other resources")];
  }
  if (!plain.includes('*') || plain.length === 1) return [];
  return [invalid(path, resources, "if '*' is present, must not specify other resources without subresources")];
}

function conditionErrors(conditions: readonly ApiObject[], path: string): FieldError[] {
  const seen = new Set<string>();
  return conditions.flatMap((condition, index) => {
    const name = text(condition, 'name');
    const expression = text(condition, 'expression');
    const place = `${path}[${index}]`;
    const problem = expression.trim() === '' ? undefined : compileCondition(expression);
    const repeated = seen.has(name);
    seen.add(name);
    return [
      ...(expression.trim() === '' ? [required(`${place}.expression`)] : []),
      ...(typeof problem === 'string' ? [invalid(`${place}.expression`, expression, problem)] : []),
      ...(name === '' ? [required(`${place}.name`)] : nameErrors(qualifiedNameProblems, name, `${place}.name`)),
      ...(repeated && name !== '' ? [duplicate(`${place}.name`, name)] : []),
    ];
  });
}

/** What is wrong with the address of a webhook. */
export function urlErrors(url: unknown, field: string): FieldError[] {
  if (typeof url !== 'string') return [];
  const parsed = URL.parse(url);
  if (parsed === null) return [invalid(field, url, 'url must be a valid URL')];
  if (parsed.protocol !== 'https:') {
    const detail = `'https' is the only allowed URL scheme; desired format: https://host[/path]`;
    return [invalid(field, parsed.protocol.slice(0, -1), detail)];
  }
  return parsed.username === '' && parsed.search === '' && parsed.hash === ''
    ? []
    : [invalid(field, url, 'user information, query parameters and fragments are not permitted in the URL')];
}
