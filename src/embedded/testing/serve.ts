// An embedded cluster without controllers, shared by all tests of a file, and a client for it.
import { afterAll } from 'vitest';
import { startEmbedded } from '../server.ts';
import type { Embedded, EmbeddedOptions } from '../server.ts';
import { testClient } from './http.ts';
import type { TestClient } from './http.ts';

/** Starts a cluster that is stopped after the last test of the file. */
export async function serveForTests(
  options: EmbeddedOptions = {},
): Promise<{ readonly embedded: Embedded; readonly client: TestClient }> {
  const embedded = await startEmbedded({ simulation: false, ...options });
  const client = testClient(embedded);
  afterAll(async () => {
    client.close();
    await embedded.stop();
  });
  return { embedded, client };
}
