// A tunnel through an HTTP proxy (CONNECT). Called by connect.ts for configurations with a proxy URL.
import https from 'node:https';
import type { Socket } from 'node:net';
import { http } from '../../http.ts';

/** Opens a connection to `host:port` through the proxy; sends the user and password of its URL. */
export function openTunnel(proxyUrl: string, host: string, port: number): Promise<Socket> {
  const proxy = new URL(proxyUrl);
  const target = `${host.includes(':') ? `[${host}]` : host}:${port}`;
  const login = `${decodeURIComponent(proxy.username)}:${decodeURIComponent(proxy.password)}`;
  return new Promise((resolve, reject) => {
    const request = (proxy.protocol === 'https:' ? https : http).request({
      method: 'CONNECT',
      host: proxy.hostname.replaceAll(/^\[|\]$/g, ''),
      port: proxy.port || (proxy.protocol === 'https:' ? 443 : 80),
      path: target,
      // The tunnel becomes a socket of the agent that asked for it, so it must not belong to another agent.
      agent: false,
      headers: {
        host: target,
        ...(login === ':' ? {} : { 'proxy-authorization': `Basic ${Buffer.from(login).toString('base64')}` }),
      },
    });
    request.on('connect', (answer, socket, head) => {
      if (answer.statusCode === 200 && head.length === 0) return resolve(socket);
      socket.destroy();
      const what = `refused to connect to ${target}: ${answer.statusCode} ${answer.statusMessage}`;
      reject(proxyError(proxy, what));
    });
    request.on('error', (error) => reject(proxyError(proxy, error.message, error)));
    request.end();
  });
}

function proxyError(proxy: URL, what: string, cause?: Error): Error {
  return Object.assign(new Error(`proxy ${proxy.host}: ${what}`, { cause }), { code: 'EPROXY' });
}
