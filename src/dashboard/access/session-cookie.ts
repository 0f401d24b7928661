// The cookie of somebody who has signed in. It holds their token, sealed with a key that all replicas share: any of them
// can open it, and whoever gets hold of it has no token for the API server. Scripts can't read it, other sites can't send
// it, and it ends after a while.
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';

const CIPHER = 'aes-256-gcm';
const IV_BYTES = 12;
const TAG_BYTES = 16;
/** Browsers keep no more than 4,096 bytes of a cookie with its attributes. */
const LONGEST = 3_900;

export interface SignedIn {
  readonly token: string;
  /** When it ends, in milliseconds. */
  readonly until: number;
}

/** Seals a session; undefined if the token is too long for a cookie. */
export function sealSession(key: Buffer, { token, until }: SignedIn): string | undefined {
  const iv = randomBytes(IV_BYTES);
  const cipher = createCipheriv(CIPHER, key, iv);
  const text = Buffer.concat([cipher.update(JSON.stringify([until, token])), cipher.final()]);
  const sealed = Buffer.concat([iv, cipher.getAuthTag(), text]).toString('base64url');
  return sealed.length > LONGEST ? undefined : sealed;
}

/** Opens a session; undefined if it is none of ours, or is over. */
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

/** The name of the cookie. A browser takes one that begins with `__Host-` from the very host alone, and by TLS alone. */
const nameOf = (isSecure: boolean): string => (isSecure ? '__Host-offshoot-session' : 'offshoot-session');

/** The header that sets the cookie; without a value, the one that removes it. */
export function setCookie(value: string, { isSecure, maxAgeMs }: { isSecure: boolean; maxAgeMs: number }): string {
  const seconds = Math.max(0, Math.floor(maxAgeMs / 1000));
  const flags = ['Path=/', `Max-Age=${seconds}`, 'HttpOnly', 'SameSite=Strict', ...(isSecure ? ['Secure'] : [])];
  return [`${nameOf(isSecure)}=${value}`, ...flags].join('; ');
}

/** The value of the cookie in the header of a request. */
export function cookieIn(header: string | undefined, isSecure: boolean): string | undefined {
  const prefix = `${nameOf(isSecure)}=`;
  const own = (header ?? '').split(';').map((each) => each.trim());
  return own.find((each) => each.startsWith(prefix))?.slice(prefix.length);
}
