// Validates IP addresses, and which of them endpoints may have.
import { BlockList, isIP } from 'node:net';
import { type FieldError, invalid } from '../../schema/field-error.ts';

const addressText = 'must be a valid IP address';

export function addressErrors(address: string, path: string): FieldError[] {
  return isIP(address) === 0 ? [invalid(path, address, `${addressText}, (e.g. 10.9.8.7 or 2001:db8::ffff)`)] : [];
}

/** Ranges that are not allowed for endpoints. */
const forbiddenRanges: readonly (readonly [why: string, ranges: BlockList])[] = [
  ['may not be in the loopback range (127.0.0.0/8, ::1/128)', rangesOf(['127.0.0.0', 8], ['::1', 128])],
  ['may not be in the link-local range (169.254.0.0/16, fe80::/10)', rangesOf(['169.254.0.0', 16], ['fe80::', 10])],
  [
    'may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)',
    rangesOf(['224.0.0.0', 24], ['ff02::', 16]),
  ],
];
const unspecified = rangesOf(['0.0.0.0', 32], ['::', 128]);

function rangesOf(ipv4: [string, number], ipv6: [string, number]): BlockList {
  const ranges = new BlockList();
  ranges.addSubnet(...ipv4, 'ipv4');
  ranges.addSubnet(...ipv6, 'ipv6');
  return ranges;
}

export function endpointAddressErrors(address: string, path: string): FieldError[] {
  const version = isIP(address);
  if (version === 0) return [invalid(path, address, addressText)];
  const family = version === 4 ? 'ipv4' : 'ipv6';
  if (unspecified.check(address, family)) return [invalid(path, address, `may not be unspecified (${address})`)];
  return forbiddenRanges
    .filter(([, ranges]) => ranges.check(address, family))
    .map(([why]) => invalid(path, address, why));
}

/** An EndpointSlice has addresses of one family only. */
export function sliceAddressErrors(address: string, type: string, list: string, path: string): FieldError[] {
  if (type !== 'IPv4' && type !== 'IPv6') return [];
  const errors = addressErrors(address, path);
  if (errors.length > 0) return errors;
  if (isIP(address) !== (type === 'IPv4' ? 4 : 6)) errors.push(invalid(list, address, `must be an ${type} address`));
  return [...errors, ...endpointAddressErrors(address, path)];
}
