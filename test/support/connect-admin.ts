// A client with the administrator's certificate, for tests that start an embedded cluster.
import type { Embedded } from '../../src/embedded/index.ts';
import { connect } from '../../src/kube/index.ts';
import type { Client } from '../../src/kube/index.ts';

export function connectAdmin({ url, caPem, admin: { certPem, keyPem } }: Embedded): Client {
  return connect({ server: url, caPem, certPem, keyPem });
}
