// Which form of an answer the caller wants: the Accept header against what can be served.
import { notAcceptable } from './fault.ts';

export interface Format {
  readonly as: '' | 'Table' | 'PartialObjectMetadata' | 'APIGroupDiscoveryList';
  /** The version of the form, such as `v1` or `v2beta1`; empty for plain objects. */
  readonly version: string;
}

const plain: Format = { as: '', version: '' };
const known = new Map<string, readonly Format[]>();
const knownLimit = 200;

/** The forms that a header accepts, best first. Media types that are not JSON are left out. */
function acceptedFormats(header: string): readonly Format[] {
  let formats = known.get(header);
  if (formats === undefined) {
    formats = header.split(',').flatMap(formatOf);
    if (known.size < knownLimit) known.set(header, formats);
  }
  return formats;
}

function formatOf(clause: string): Format[] {
  const [type = '', ...parameters] = clause.split(';').map((part) => part.trim());
  if (type !== 'application/json' && type !== '*/*' && type !== 'application/*') return [];
  const values = Object.fromEntries(parameters.map((parameter) => parameter.split('=', 2)));
  const { as = '', v = '', g = '' } = values as Record<string, string>;
  if (as === '') return [plain];
  if (as === 'Table' && g === 'meta.k8s.io' && (v === 'v1' || v === 'v1beta1')) return [{ as, version: v }];
  if (/^PartialObjectMetadata(List)?$/.test(as) && g === 'meta.k8s.io' && (v === 'v1' || v === 'v1beta1')) {
    return [{ as: 'PartialObjectMetadata', version: v }];
  }
  if (as === 'APIGroupDiscoveryList' && g === 'apidiscovery.k8s.io' && (v === 'v2' || v === 'v2beta1')) {
    return [{ as, version: v }];
  }
  return [];
}

/** The best of the allowed forms; refuses a header that allows none of them. */
export function negotiate(header: string | undefined, allowed: readonly Format['as'][]): Format {
  if (header === undefined || header === '') return plain;
  const format = acceptedFormats(header).find(({ as }) => as === '' || allowed.includes(as));
  if (format === undefined) throw notAcceptable(['application/json']);
  return format;
}
