// Which certificates a webhook server should have at a given time. Pure except for generating keys. Called by
// certificates.ts.
//
// A new authority is trusted before it signs anything: it is added to the bundle when the old one has a third of its
// validity left, and signs from the next renewal of the serving certificate on. So a server never shows a certificate
// that a caller with a slightly older bundle rejects.
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { isIPv4 } from 'node:net';
import { createAuthority, loadAuthority } from '../../kube/pki.ts';
import type { Authority, CertificatePair } from '../../kube/pki.ts';

export interface CertificateData extends CertificatePair {
  /** Authorities to trust: first the one that signs, then earlier ones that have not expired. */
  readonly caPem: string;
  readonly caKeyPem: string;
}

const AUTHORITY_DAYS = 3650;
const SERVING_DAYS = 90;

/** The data to use from now on; `held` itself if nothing is due. `hosts` are the names and addresses to serve under. */
export function renew(held: CertificateData | undefined, hosts: readonly string[], now: number): CertificateData {
  const [signing, ...earlier] = held !== undefined && isUsable(held) ? bundle(held.caPem) : [];
  if (held === undefined || signing === undefined || until(signing) <= now) {
    const first = authority(now);
    return { caPem: first.certPem, caKeyPem: first.keyPem, ...servingPair(first, hosts, now) };
  }
  const due = !serves(held.certPem, hosts) || now >= renewalOf(held.certPem);
  const signer = loadAuthority({ certPem: signing, keyPem: held.caKeyPem });
  const { certPem, keyPem } = due ? servingPair(signer, hosts, now) : held;
  const trusted = earlier.filter((pem) => until(pem) > now);
  if (now < renewalOf(signing)) {
    if (!due && trusted.length === earlier.length) return held;
    return { caPem: [signing, ...trusted].join(''), caKeyPem: held.caKeyPem, certPem, keyPem };
  }
  const next = authority(now);
  return { caPem: [next.certPem, signing, ...trusted].join(''), caKeyPem: next.keyPem, certPem, keyPem };
}

/** When `renew` is next due. */
export function dueAt(data: CertificateData): number {
  const [signing, ...earlier] = bundle(data.caPem);
  return Math.min(renewalOf(data.certPem), renewalOf(signing!), ...earlier.map(until));
}

function authority(now: number): Authority {
  return createAuthority({ commonName: 'offshoot-webhook-ca', days: AUTHORITY_DAYS, now });
}

function servingPair(by: Authority, hosts: readonly string[], now: number): CertificatePair {
  return by.issue({
    commonName: 'offshoot-webhook',
    dnsNames: hosts.filter((host) => !isAddress(host)),
    ipAddresses: hosts.filter(isAddress),
    days: SERVING_DAYS,
    usage: 'server',
    now,
  });
}

/** Names have no colons. Node's own test would compile a huge pattern at every start. */
function isAddress(host: string): boolean {
  return isIPv4(host) || host.includes(':');
}

/** Whether all parts can be parsed and belong together. */
function isUsable(data: CertificateData): boolean {
  try {
    const [signing, ...earlier] = bundle(data.caPem);
    if (signing === undefined) return false;
    loadAuthority({ certPem: signing, keyPem: data.caKeyPem });
    const certificate = new X509Certificate(data.certPem);
    if (!certificate.checkPrivateKey(createPrivateKey(data.keyPem))) return false;
    return [signing, ...earlier].some((pem) => isSignedBy(certificate, new X509Certificate(pem)));
  } catch {
    return false;
  }
}

function isSignedBy(certificate: X509Certificate, issuer: X509Certificate): boolean {
  return certificate.checkIssued(issuer) && certificate.verify(issuer.publicKey);
}

function serves(certPem: string, hosts: readonly string[]): boolean {
  const certificate = new X509Certificate(certPem);
  const covers = (host: string): boolean =>
    (isAddress(host) ? certificate.checkIP(host) : certificate.checkHost(host)) !== undefined;
  return hosts.every(covers);
}

/** A certificate is renewed when two thirds of its validity are over. */
function renewalOf(pem: string): number {
  const { validFromDate, validToDate } = new X509Certificate(pem);
  const from = validFromDate.getTime();
  return from + ((validToDate.getTime() - from) * 2) / 3;
}

function until(pem: string): number {
  return new X509Certificate(pem).validToDate.getTime();
}

function bundle(pem: string): string[] {
  return pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----\n?/g) ?? [];
}
