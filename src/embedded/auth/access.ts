// provisional
import { timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { TLSSocket } from 'node:tls';
import type { UserInfo } from '../rest/context.ts';
import { unauthorized } from '../rest/fault.ts';
import type { Access } from '../rest/server-context.ts';

const open = new Set(['/healthz', '/readyz', '/livez', '/version']);

export function accessOf(adminToken: string): Access {
  return {
    isPublic: (path) => open.has(path),
    authenticate: (request) => {
      const user = certificateUser(request.socket as TLSSocket) ?? tokenUser(request, adminToken);
      if (user === undefined) throw unauthorized();
      return user;
    },
    authorize: () => undefined,
  };
}

function tokenUser(request: IncomingMessage, adminToken: string): UserInfo | undefined {
  const token = /^Bearer (.+)$/i.exec(request.headers.authorization ?? '')?.[1] ?? '';
  if (token.length !== adminToken.length || !timingSafeEqual(Buffer.from(token), Buffer.from(adminToken)))
    return undefined;
  return { username: 'admin', groups: ['system:masters', 'system:authenticated'] };
}

const users = new WeakMap<TLSSocket, UserInfo>();

function certificateUser(socket: TLSSocket): UserInfo | undefined {
  if (!socket.authorized) return undefined;
  let user = users.get(socket);
  if (user === undefined) {
    const { CN, O } = socket.getPeerCertificate().subject ?? {};
    const name = Array.isArray(CN) ? CN[0] : CN;
    if (name === undefined) return undefined;
    user = { username: name, groups: [...[O ?? []].flat(), 'system:authenticated'] };
    users.set(socket, user);
  }
  return user;
}
