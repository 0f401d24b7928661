// A small certificate authority: signs the serving and client certificates of embedded clusters, webhooks and tests.
import { createHash, createPrivateKey, generateKeyPairSync, randomBytes, sign, X509Certificate } from 'node:crypto';
import type { KeyObject } from 'node:crypto';
import { isIPv4 } from 'node:net';
import { bitString, elements, encode, objectIdentifier, sequence, tag, time, unsignedInteger } from './der.ts';

/** A certificate and its private key (PKCS#8), both as PEM text. */
export interface CertificatePair {
  readonly certPem: string;
  readonly keyPem: string;
}

export interface CertificateRequest {
  readonly commonName: string;
  /** Kubernetes reads these as the groups of the user; the common name is the user name. */
  readonly organizations?: readonly string[];
  readonly dnsNames?: readonly string[];
  readonly ipAddresses?: readonly string[];
  /** How long it is valid; never longer than the authority itself. */
  readonly days: number;
  /** The time of issue, now by default; it is valid from an hour earlier. */
  readonly now?: number;
  readonly usage: 'server' | 'client' | 'both';
}

/** A certificate authority. `certPem` and `keyPem` are all that `loadAuthority` needs to restore it. */
export interface Authority extends CertificatePair {
  issue(request: CertificateRequest): CertificatePair;
}

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const ecdsaWithSha256 = sequence(objectIdentifier('1.2.840.10045.4.3.2'));
const subjectKeyIdentifierOid = objectIdentifier('2.5.29.14');

/** Creates an authority with an EC P-256 key and a self-signed certificate. */
export function createAuthority(request: {
  readonly commonName: string;
  readonly days: number;
  readonly now?: number;
}): Authority {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const name = distinguishedName(request.commonName, []);
  const keyId = keyIdentifier(publicKey);
  const certificate = signCertificate({
    issuer: { name, keyId, privateKey },
    subject: name,
    publicKey,
    validity: validity(request.days, request.now),
    extensions: [
      extension('2.5.29.19', true, sequence(encode(tag.boolean, Buffer.from([0xff])))),
      // digitalSignature, keyCertSign and cRLSign are bits 0, 5 and 6.
      extension('2.5.29.15', true, bitString(Buffer.from([0x86]), 1)),
    ],
  });
  return authorityOf({ certPem: toPem(certificate), keyPem: exportKey(privateKey) });
}

/** The authority whose certificate and key were saved. Throws when they do not belong together or cannot sign. */
export function loadAuthority(saved: CertificatePair): Authority {
  return authorityOf({ certPem: saved.certPem, keyPem: saved.keyPem });
}

function authorityOf(pair: CertificatePair): Authority {
  const certificate = parsed('certPem', () => new X509Certificate(pair.certPem));
  const privateKey = parsed('keyPem', () => createPrivateKey(pair.keyPem));
  if (!certificate.ca)
    throw new Error(`certificate authority: certPem (${certificate.subject}) is not a CA certificate`);
  if (privateKey.asymmetricKeyDetails?.namedCurve !== 'prime256v1') {
    throw new Error(`certificate authority: keyPem must be an EC P-256 key, found ${describeKey(privateKey)}`);
  }
  if (!certificate.checkPrivateKey(privateKey)) {
    throw new Error(`certificate authority: keyPem is not the key of certPem (${certificate.subject})`);
  }
  const issuer: Issuer = { ...readIssuer(certificate), privateKey };
  const end = certificate.validToDate.getTime();
  return { ...pair, issue: (request) => issue(issuer, end, request) };
}

function issue(issuer: Issuer, authorityEnd: number, request: CertificateRequest): CertificatePair {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const usages = [
    ...(request.usage === 'client' ? [] : [objectIdentifier('1.3.6.1.5.5.7.3.1')]),
    ...(request.usage === 'server' ? [] : [objectIdentifier('1.3.6.1.5.5.7.3.2')]),
  ];
  const names = [
    ...(request.dnsNames ?? []).map((name) => encode(0x82, dnsName(name))),
    ...(request.ipAddresses ?? []).map((address) => encode(0x87, ipBytes(address))),
  ];
  const certificate = signCertificate({
    issuer,
    subject: distinguishedName(request.commonName, request.organizations ?? []),
    publicKey,
    validity: validity(request.days, request.now, authorityEnd),
    extensions: [
      extension('2.5.29.19', true, sequence()),
      // digitalSignature is bit 0: all that an EC key does in TLS.
      extension('2.5.29.15', true, bitString(Buffer.from([0x80]), 7)),
      extension('2.5.29.37', false, sequence(...usages)),
      ...(names.length === 0 ? [] : [extension('2.5.29.17', false, sequence(...names))]),
    ],
  });
  return { certPem: toPem(certificate), keyPem: exportKey(privateKey) };
}

interface Issuer {
  readonly name: Buffer;
  readonly keyId: Buffer;
  readonly privateKey: KeyObject;
}

interface Content {
  readonly issuer: Issuer;
  readonly subject: Buffer;
  readonly publicKey: KeyObject;
  readonly validity: Buffer;
  readonly extensions: readonly Buffer[];
}

function signCertificate(content: Content): Buffer {
  const serial = randomBytes(16);
  serial[0] = (serial[0]! & 0x3f) | 0x40; // never zero, never negative, always the same length
  const version3 = encode(0xa0, unsignedInteger(Buffer.from([2])));
  const keyIdentifiers = [
    extension('2.5.29.14', false, encode(tag.octetString, keyIdentifier(content.publicKey))),
    extension('2.5.29.35', false, sequence(encode(0x80, content.issuer.keyId))),
  ];
  const toBeSigned = sequence(
    version3,
    unsignedInteger(serial),
    ecdsaWithSha256,
    content.issuer.name,
    content.validity,
    content.subject,
    spki(content.publicKey),
    encode(0xa3, sequence(...content.extensions, ...keyIdentifiers)),
  );
  return sequence(toBeSigned, ecdsaWithSha256, bitString(sign('sha256', toBeSigned, content.issuer.privateKey)));
}

function extension(oid: string, critical: boolean, value: Buffer): Buffer {
  const flag = critical ? [encode(tag.boolean, Buffer.from([0xff]))] : [];
  return sequence(objectIdentifier(oid), ...flag, encode(tag.octetString, value));
}

function distinguishedName(commonName: string, organizations: readonly string[]): Buffer {
  if (commonName === '') throw new Error('certificate: commonName must not be empty');
  const part = (oid: string, value: string): Buffer =>
    encode(tag.set, sequence(objectIdentifier(oid), encode(tag.utf8String, Buffer.from(value, 'utf8'))));
  return sequence(...organizations.map((name) => part('2.5.4.10', name)), part('2.5.4.3', commonName));
}

function validity(days: number, now = Date.now(), atMost = Infinity): Buffer {
  if (!(days > 0)) throw new Error(`certificate: days must be more than 0, found ${days}`);
  // An hour earlier, because clocks of machines differ.
  return sequence(time(new Date(now - hourMs)), time(new Date(Math.min(now + days * dayMs, atMost))));
}

function dnsName(name: string): Buffer {
  if (!/^[\x21-\x7e]+$/.test(name)) throw new Error(`certificate: dnsNames must be ASCII host names, found '${name}'`);
  return Buffer.from(name, 'ascii');
}

function ipBytes(address: string): Buffer {
  if (isIPv4(address)) return Buffer.from(address.split('.').map(Number));
  // The URL parser writes every spelling of an IPv6 address in one form: hexadecimal groups, at most one '::'.
  const url = /^[\da-f:.]+$/i.test(address) ? URL.parse(`http://[${address}]`) : null;
  if (url === null) throw new Error(`certificate: ipAddresses must be IP addresses, found '${address}'`);
  const [head = '', tail] = url.hostname.slice(1, -1).split('::');
  const groups = (text: string): number[] => (text === '' ? [] : text.split(':').map((group) => parseInt(group, 16)));
  const [before, after] = [groups(head), groups(tail ?? '')];
  const bytes = Buffer.alloc(16);
  before.forEach((group, index) => bytes.writeUInt16BE(group, index * 2));
  after.forEach((group, index) => bytes.writeUInt16BE(group, 16 - (after.length - index) * 2));
  return bytes;
}

/** The subject's name and the key identifier of a CA certificate, byte for byte, so that what it signs refers to it. */
function readIssuer(certificate: X509Certificate): { name: Buffer; keyId: Buffer } {
  const fields = elements(elements(elements(certificate.raw)[0]!.content)[0]!.content);
  const extensions = fields.find((field) => field.tag === 0xa3);
  const listed = extensions === undefined ? [] : elements(elements(extensions.content)[0]!.content);
  const keyId = listed
    .map((entry) => elements(entry.content))
    .find((parts) => parts[0]!.whole.equals(subjectKeyIdentifierOid))
    ?.at(-1);
  return {
    // version, serial number, signature algorithm, issuer, validity, subject
    name: fields[5]!.whole,
    keyId: keyId === undefined ? keyIdentifier(certificate.publicKey) : elements(keyId.content)[0]!.content,
  };
}

/** SHA-1 over the public point: what every TLS library computes by itself when the extension is missing. */
function keyIdentifier(key: KeyObject): Buffer {
  const point = elements(elements(spki(key))[0]!.content)[1]!.content.subarray(1);
  return createHash('sha1').update(point).digest();
}

function spki(publicKey: KeyObject): Buffer {
  return publicKey.export({ type: 'spki', format: 'der' });
}

function exportKey(key: KeyObject): string {
  return key.export({ type: 'pkcs8', format: 'pem' }).toString();
}

function toPem(certificate: Buffer): string {
  const lines = certificate.toString('base64').match(/.{1,64}/g) ?? [];
  return `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`;
}

function describeKey(key: KeyObject): string {
  return [key.asymmetricKeyType, key.asymmetricKeyDetails?.namedCurve].filter((part) => part !== undefined).join(' ');
}

function parsed<T>(field: string, parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    throw new Error(`certificate authority: ${field} cannot be read: ${(error as Error).message}`, { cause: error });
  }
}
