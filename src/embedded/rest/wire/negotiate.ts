// Content negotiation: chooses the response format by the Accept header.
import { notAcceptable } from '../fault.ts';

export const jsonType = 'application/json';
export const protobufType = 'application/vnd.kubernetes.protobuf';

export interface Format {
  readonly as: '' | 'Table' | 'PartialObjectMetadata' | 'APIGroupDiscoveryList';
  /** The version of `as`, such as `v1` or `v2beta1`; empty for plain objects. */
  readonly version: string;
  /** Protobuf instead of JSON. */
  readonly protobuf: boolean;
}

const plainJson: Format = { as: '', version: '', protobuf: false };
const known = new Map<string, readonly Format[]>();
const knownLimit = 200;

/** The formats that a header accepts, in its order. Media types that are not served are left out. */
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
 * The first accepted format that is allowed; throws 406 if there is none. Custom resources are not served in protobuf,
 * but their metadata is.
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

/** Whether to send a plain object in protobuf. Clients that accept no served format get JSON. */
export function prefersProtobuf(header: string | undefined): boolean {
  return acceptedFormats(header ?? '').find(({ as }) => as === '')?.protobuf === true;
}
