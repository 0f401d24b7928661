// Which form of an answer the caller wants: the Accept header against what can be served.
import { notAcceptable } from './fault.ts';

export const jsonType = 'application/json';
export const protobufType = 'application/vnd.kubernetes.protobuf';

export interface Format {
  readonly as: '' | 'Table' | 'PartialObjectMetadata' | 'APIGroupDiscoveryList';
  /** The version of the form, such as `v1` or `v2beta1`; empty for plain objects. */
  readonly version: string;
  /** In protobuf, not in JSON. */
  readonly protobuf: boolean;
}

const plainJson: Format = { as: '', version: '', protobuf: false };
const known = new Map<string, readonly Format[]>();
const knownLimit = 200;

/** The forms that a header accepts, best first. Media types that are not served are left out. */
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
  const protobuf = type === protobufType;
  if (!protobuf && type !== jsonType && type !== '*/*' && type !== 'application/*') return [];
  const values = Object.fromEntries(parameters.map((parameter) => parameter.split('=', 2)));
  const { as = '', v = '', g = '' } = values as Record<string, string>;
  if (as === '') return [{ as, version: '', protobuf }];
  const isMeta = g === 'meta.k8s.io' && (v === 'v1' || v === 'v1beta1');
  if (as === 'Table' && isMeta && !protobuf) return [{ as, version: v, protobuf }];
  if (/^PartialObjectMetadata(List)?$/.test(as) && isMeta)
    return [{ as: 'PartialObjectMetadata', version: v, protobuf }];
  const isDiscovery = g === 'apidiscovery.k8s.io' && (v === 'v2' || v === 'v2beta1');
  if (as === 'APIGroupDiscoveryList' && isDiscovery && !protobuf) return [{ as, version: v, protobuf }];
  return [];
}

/**
 * The best of the allowed forms; refuses a header that allows none of them. Objects of custom kinds are not served in
 * protobuf, but their metadata is.
 */
export function negotiate(
  header: string | undefined,
  allowed: readonly Format['as'][],
  protobuf: 'objects' | 'metadata' = 'objects',
): Format {
  if (header === undefined || header === '') return plainJson;
  const isServed = (format: Format): boolean =>
    format.as === '' ? !format.protobuf || protobuf === 'objects' : allowed.includes(format.as);
  const format = acceptedFormats(header).find(isServed);
  if (format === undefined) throw notAcceptable(protobuf === 'objects' ? [jsonType, protobufType] : [jsonType]);
  return format;
}

/** Is a plain object to be answered in protobuf? Whoever accepts nothing that is served gets JSON. */
export function prefersProtobuf(header: string | undefined): boolean {
  return acceptedFormats(header ?? '').find(({ as }) => as === '')?.protobuf === true;
}
