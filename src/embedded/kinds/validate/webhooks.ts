// Validates webhook configurations: their rules, match conditions and client configuration.
import type { ApiObject } from '../../resource.ts';
import { conditionProblem } from '../../schema/cel/conditions.ts';
import { type FieldError, duplicate, invalid, required } from '../../schema/field-error.ts';
import { at, numberAt, objects, strings, text } from '../read.ts';
import { choice, nameErrors } from './common.ts';
import { dns1123SubdomainProblems, qualifiedNameProblems } from './names.ts';

export function webhookErrors(object: ApiObject): FieldError[] {
  return objects(object, 'webhooks').flatMap((webhook, index) => {
    const itemPath = `webhooks[${index}]`;
    const errors: FieldError[] = [];
    const name = text(webhook, 'name');
    if (name === '') errors.push(required(`${itemPath}.name`));
    else if (name.split('.').length < 3) {
      errors.push(
        invalid(`${itemPath}.name`, name, 'should be a domain with at least three segments separated by dots'),
      );
    } else errors.push(...nameErrors(dns1123SubdomainProblems, name, `${itemPath}.name`));
    errors.push(...ruleErrors(objects(webhook, 'rules'), `${itemPath}.rules`));
    errors.push(...choice(text(webhook, 'failurePolicy'), ['Fail', 'Ignore'], `${itemPath}.failurePolicy`));
    errors.push(...choice(text(webhook, 'matchPolicy'), ['Equivalent', 'Exact'], `${itemPath}.matchPolicy`));
    const effects = text(webhook, 'sideEffects');
    if (effects === '') errors.push(required(`${itemPath}.sideEffects`, 'must specify one of None, NoneOnDryRun'));
    else errors.push(...choice(effects, ['None', 'NoneOnDryRun'], `${itemPath}.sideEffects`));
    const timeout = numberAt(webhook, 'timeoutSeconds') ?? 10;
    if (timeout < 1 || timeout > 30) {
      errors.push(invalid(`${itemPath}.timeoutSeconds`, timeout, 'the timeout value must be between 1 and 30 seconds'));
    }
    const given = ['url', 'service'].filter((field) => at(webhook, 'clientConfig', field) !== undefined).length;
    if (given !== 1) errors.push(required(`${itemPath}.clientConfig`, 'exactly one of url or service is required'));
    const versions = strings(webhook, 'admissionReviewVersions');
    if (versions.length === 0) {
      errors.push(required(`${itemPath}.admissionReviewVersions`, 'must specify one of v1, v1beta1'));
    } else if (!versions.includes('v1') && !versions.includes('v1beta1')) {
      const why = 'must include at least one of v1, v1beta1';
      errors.push(invalid(`${itemPath}.admissionReviewVersions`, versions, why));
    }
    return [...errors, ...conditionErrors(objects(webhook, 'matchConditions'), `${itemPath}.matchConditions`)];
  });
}

const operations = ['*', 'CONNECT', 'CREATE', 'DELETE', 'UPDATE'];

/** In the rules of a webhook, `*` must be the only value of a field. */
function ruleErrors(rules: readonly ApiObject[], path: string): FieldError[] {
  return rules.flatMap((rule, index) => {
    const itemPath = `${path}[${index}]`;
    const wildcardErrors = (field: string, what: string): FieldError[] => {
      const values = strings(rule, field);
      if (values.length === 0) return [required(`${itemPath}.${field}`)];
      if (!values.includes('*') || values.length === 1) return [];
      return [invalid(`${itemPath}.${field}`, values, `if '*' is present, must not specify other ${what}`)];
    };
    const ruleOperations = strings(rule, 'operations');
    return [
      ...wildcardErrors('operations', 'operations'),
      ...ruleOperations.flatMap((name, item) => choice(name, operations, `${itemPath}.operations[${item}]`)),
      ...wildcardErrors('apiGroups', 'API groups'),
      ...wildcardErrors('apiVersions', 'API versions'),
      ...resourceErrors(strings(rule, 'resources'), `${itemPath}.resources`),
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
    const itemPath = `${path}[${index}]`;
    const problem = expression.trim() === '' ? undefined : conditionProblem(expression);
    const repeated = seen.has(name);
    seen.add(name);
    return [
      ...(expression.trim() === '' ? [required(`${itemPath}.expression`)] : []),
      ...(problem !== undefined ? [invalid(`${itemPath}.expression`, expression, problem)] : []),
      ...(name === '' ? [required(`${itemPath}.name`)] : nameErrors(qualifiedNameProblems, name, `${itemPath}.name`)),
      ...(repeated && name !== '' ? [duplicate(`${itemPath}.name`, name)] : []),
    ];
  });
}

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
