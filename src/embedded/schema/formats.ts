// The string formats of CustomResourceDefinitions. Formats that the API server does not know are ignored.
import { isIP, isIPv4, isIPv6 } from 'node:net';

const label = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;
const subdomain = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const duration = /^[+-]?(\d+(\.\d*)?|\.\d+)(ns|us|µs|ms|s|m|h)((\d+(\.\d*)?|\.\d+)(ns|us|µs|ms|s|m|h))*$/;
const dateTime = /^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:?\d\d)?$/;

function uuid(version: string): RegExp {
  return new RegExp(`^[0-9a-f]{8}-?[0-9a-f]{4}-?${version}-?[0-9a-f]{4}-?[0-9a-f]{12}$`, 'i');
}

function isDate(text: string): boolean {
  const match = /^(\d{4})-(\d\d)-(\d\d)$/.exec(text);
  if (match === null) return false;
  const date = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(date.getTime()) && date.getUTCDate() === Number(match[3]);
}

/** Whether the text is an IP address block such as 10.0.0.0/8. */
export function isCidr(text: string): boolean {
  const slash = text.lastIndexOf('/');
  if (slash < 0) return false;
  const family = isIP(text.slice(0, slash));
  const bits = text.slice(slash + 1);
  return family !== 0 && /^(0|[1-9]\d{0,2})$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128);
}

function isUri(text: string): boolean {
  return text.startsWith('/') || URL.canParse(text);
}

const checks: Readonly<Record<string, (text: string) => boolean>> = {
  bsonobjectid: (text) => /^[0-9a-fA-F]{24}$/.test(text),
  uri: isUri,
  email: (text) => /^[^\s@]+@[^\s@]+$/.test(text),
  hostname: (text) =>
    text.length <= 255 &&
    /^[A-Za-z0-9]([-A-Za-z0-9]*[A-Za-z0-9])?(\.[A-Za-z0-9]([-A-Za-z0-9]*[A-Za-z0-9])?)*\.?$/.test(text),
  ipv4: isIPv4,
  ipv6: isIPv6,
  cidr: isCidr,
  mac: (text) =>
    /^([0-9a-f]{2}[:-]){5}([0-9a-f]{2})$|^([0-9a-f]{4}\.){2}[0-9a-f]{4}$|^([0-9a-f]{2}[:-]){7}[0-9a-f]{2}$/i.test(text),
  uuid: (text) => uuid('[0-9a-f]{4}').test(text),
  uuid3: (text) => uuid('3[0-9a-f]{3}').test(text),
  uuid4: (text) => uuid('4[0-9a-f]{3}').test(text),
  uuid5: (text) => uuid('5[0-9a-f]{3}').test(text),
  hexcolor: (text) => /^#?([0-9a-fA-F]{3}|[0-9a-fA-F]{6})$/.test(text),
  byte: (text) => /^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(text),
  password: () => true,
  date: isDate,
  duration: (text) => text === '0' || duration.test(text),
  datetime: (text) => dateTime.test(text) && !Number.isNaN(Date.parse(text.replace(' ', 'T'))),
  k8sshortname: (text) => label.test(text),
  k8slongname: (text) => text.length <= 253 && subdomain.test(text),
};

/** Whether the text has the format. Unknown formats match everything. */
export function matchesFormat(text: string, format: string): boolean {
  return checks[format.replaceAll('-', '').toLowerCase()]?.(text) ?? true;
}

/** Whether the server validates this string format. */
export function isKnownFormat(format: string): boolean {
  return checks[format.replaceAll('-', '').toLowerCase()] !== undefined;
}
