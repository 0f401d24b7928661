// The key that sessions are sealed with, in a Secret: all replicas share it, and it survives restarts. Delete the
// Secret and restart the replicas to end all sessions.
import { randomBytes } from 'node:crypto';
import { defineKind, isAlreadyExists, isNotFound } from '../../kube/index.ts';
import type { Client, KubeObject } from '../../kube/index.ts';

interface Secret extends KubeObject {
  readonly type?: string;
  readonly data?: Readonly<Record<string, string>>;
}

const Secret = defineKind<Secret>('v1', 'Secret', 'secrets');
const NAME = 'offshoot-dashboard-session';
const FIELD = 'key';
const BYTES = 32;

/** The key of the installation in a namespace; the first replica creates it. */
export async function sessionKey(client: Client, namespace: string): Promise<Buffer> {
  const ref = { name: NAME, namespace };
  const found = await client.get(Secret, ref).catch((error: unknown) => {
    if (isNotFound(error)) return undefined;
    throw error;
  });
  if (found !== undefined) return keyIn(found);
  const data = { [FIELD]: randomBytes(BYTES).toString('base64') };
  const made: Secret = { apiVersion: 'v1', kind: 'Secret', metadata: ref, type: 'Opaque', data };
  return client.create(Secret, made).then(keyIn, async (error: unknown) => {
    if (!isAlreadyExists(error)) throw error;
    return keyIn(await client.get(Secret, ref));
  });
}

function keyIn({ metadata, data }: Secret): Buffer {
  const key = Buffer.from(data?.[FIELD] ?? '', 'base64');
  if (key.length === BYTES) return key;
  throw new Error(
    `Secret ${metadata.namespace}/${NAME}: data.${FIELD} must be ${BYTES} bytes, found ${key.length}: delete it, and another one is made`,
  );
}
