// The session cookie. It holds the user's token, encrypted with a key that all replicas share: a stolen cookie does not
// reveal the token. Scripts can't read it, other sites can't send it, and it expires.
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';

const CIPHER = 'aes-256-gcm';
const IV_BYTES = 12;
const TAG_BYTES = 16;
/** Browsers limit a cookie with its attributes to 4,096 bytes. */
const MAX_LENGTH = 3_900;

export interface SignedIn {
  readonly token: string;
  /** When it expires, in milliseconds since the epoch. */
  readonly until: number;
}

/** Seals a session; undefined if the token is too long for a cookie. */
export function sealSession(key: Buffer, { token, until }: SignedIn): string | undefined {
  const iv = randomBytes(IV_BYTES);
  const cipher = createCipheriv(CIPHER, key, iv);
  const text = Buffer.concat([cipher.update(JSON.stringify([until, token])), cipher.final()]);
  const sealed = Buffer.concat([iv, cipher.getAuthTag(), text]).toString('base64url');
  return sealed.length > MAX_LENGTH ? undefined : sealed;
}

/** Opens a session; undefined if it is not ours or has expired. */
export function openSession(key: Buffer, sealed: string, now: number): SignedIn | undefined {
  const bytes = Buffer.from(sealed, 'base64url');
  if (bytes.length <= IV_BYTES + TAG_BYTES) return undefined;
  try {
    const decipher = createDecipheriv(CIPHER, key, bytes.subarray(0, IV_BYTES), { authTagLength: TAG_BYTES });
    decipher.setAuthTag(bytes.subarray(IV_BYTES, IV_BYTES + TAG_BYTES));
    const text = Buffer.concat([decipher.update(bytes.subarray(IV_BYTES + TAG_BYTES)), decipher.final()]).toString();
    const [until, token] = JSON.parse(text) as [number, string];
    return until > now ? { token, until } : undefined;
  } catch {
    return undefined;
  }
}

/** The cookie's name. Browsers accept the prefix `__Host-` only over TLS and from that very host. */
const nameOf = (isSecure: boolean): string => (isSecure ? '__Host-offshoot-session' : 'offshoot-session');

/** The Set-Cookie header; an empty value removes the cookie. */
export function setCookie(value: string, { isSecure, maxAgeMs }: { isSecure: boolean; maxAgeMs: number }): string {
  const seconds = Math.max(0, Math.floor(maxAgeMs / 1000));
  const flags = ['Path=/', `Max-Age=${seconds}`, 'HttpOnly', 'SameSite=Strict', ...(isSecure ? ['Secure'] : [])];
  return [`${nameOf(isSecure)}=${value}`, ...flags].join('; ');
}

/** The session cookie's value in a Cookie header. */
export function cookieIn(header: string | undefined, isSecure: boolean): string | undefined {
  const prefix = `${nameOf(isSecure)}=`;
  const cookies = (header ?? '').split(';').map((each) => each.trim());
  return cookies.find((each) => each.startsWith(prefix))?.slice(prefix.length);
}
