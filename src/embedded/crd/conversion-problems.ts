// Validates the conversion strategy of a CustomResourceDefinition.
import { at, isObject, strings, text } from '../kinds/read.ts';
import { urlErrors } from '../kinds/validate/webhooks.ts';
import { type FieldError, forbidden, invalid, notSupported, required } from '../schema/field-error.ts';

const path = 'spec.conversion';
const client = `${path}.webhookClientConfig`;
const reviews = `${path}.conversionReviewVersions`;

/** The validation errors of `spec.conversion`. */
export function conversionProblems(conversion: unknown): FieldError[] {
  const strategy = text(conversion, 'strategy') || 'None';
  if (strategy !== 'None' && strategy !== 'Webhook') {
    return [notSupported(`${path}.strategy`, strategy, ['None', 'Webhook'])];
  }
  const config = at(conversion, 'webhook', 'clientConfig');
  const versions = strings(conversion, 'webhook', 'conversionReviewVersions');
  if (strategy === 'Webhook') return [...clientErrors(config), ...versionErrors(versions)];
  const why = 'should not be set when strategy is not set to Webhook';
  return [
    ...(isObject(config) ? [forbidden(client, why)] : []),
    ...(versions.length > 0 ? [forbidden(reviews, why)] : []),
  ];
}

function clientErrors(config: unknown): FieldError[] {
  if (!isObject(config)) return [required(client, 'required when strategy is set to Webhook')];
  const service = config['service'];
  if ((config['url'] === undefined) === (service === undefined)) {
    return [required(client, 'exactly one of url or service is required')];
  }
  if (service === undefined) return urlErrors(config['url'], `${client}.url`);
  // The real server also reports the name when the namespace is missing.
  return ['name', 'namespace'].flatMap((field) =>
    text(service, field) === '' ? [required(`${client}.service.name`)] : [],
  );
}

function versionErrors(versions: readonly string[]): FieldError[] {
  if (versions.length === 0) return [required(reviews)];
  const repeated = versions.flatMap((version, index) =>
    versions.indexOf(version) < index ? [invalid(`${reviews}[${index}]`, version, 'duplicate version')] : [],
  );
  if (versions.includes('v1') || versions.includes('v1beta1')) return repeated;
  return [...repeated, invalid(reviews, versions, 'must include at least one of v1, v1beta1')];
}
