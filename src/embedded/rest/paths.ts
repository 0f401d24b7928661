// Requests for non-resource paths: health, version, discovery and OpenAPI documents.
import type { IncomingMessage } from 'node:http';
import type { Answer } from './wire/answer.ts';
import { aggregated, coreVersions, groupDocument, groupList, resourceList } from './discovery/discovery.ts';
import { methodNotAllowed, noSuchPath } from './fault.ts';
import { negotiate } from './wire/negotiate.ts';
import { json } from './wire/represent.ts';
import type { RequestLine } from './request.ts';
import type { ServerContext } from './server-context.ts';

/** The version of Kubernetes whose API this server implements. */
const serverVersion = {
  major: '1',
  minor: '36',
  gitVersion: 'v1.36.0+offshoot',
  gitCommit: '',
  gitTreeState: 'clean',
  buildDate: '1970-01-01T00:00:00Z',
  goVersion: '',
  compiler: '',
  platform: `${process.platform}/${process.arch}`,
};

const rootPaths = [
  '/api',
  '/api/v1',
  '/apis',
  '/healthz',
  '/livez',
  '/openapi/v2',
  '/openapi/v3',
  '/readyz',
  '/version',
];

/** Answers a request for a non-resource path. */
export function answerPath(server: ServerContext, line: RequestLine, request: IncomingMessage): Answer {
  if (line.method !== 'GET' && line.method !== 'HEAD') throw methodNotAllowed();
  const path = line.path.length > 1 && line.path.endsWith('/') ? line.path.slice(0, -1) : line.path;
  const parts = path.split('/').slice(1);
  const [first = ''] = parts;
  switch (first) {
    case 'readyz':
      return server.isReady() ? plain(200, 'ok') : plain(500, 'not ready: the cluster is starting');
    case 'healthz':
    case 'livez':
      return plain(200, 'ok');
    case 'version':
      if (parts.length === 1) return { code: 200, body: serverVersion };
      break;
    case '':
      return { code: 200, body: { paths: rootPaths } };
    case 'openapi':
      return openApi(server, parts, request.headers.accept ?? '');
    case 'api':
    case 'apis':
      return discovery(server, parts, request);
    default:
  }
  throw noSuchPath();
}

function plain(code: number, text: string): Answer {
  return { code, body: Buffer.from(text), contentType: 'text/plain; charset=utf-8' };
}

function openApi(server: ServerContext, parts: readonly string[], accept: string): Answer {
  if (parts[1] === 'v2' && parts.length === 2) return openApiV2(accept);
  if (parts[1] !== 'v3') throw noSuchPath();
  if (parts.length === 2) return { code: 200, body: server.openApi.index() };
  const body = server.openApi.document(parts.slice(2).join('/'));
  if (body === undefined) throw noSuchPath();
  return { code: 200, body };
}

/** kubectl requests this older document for a List. It has no schemas, so only the server validates. */
function openApiV2(accept: string): Answer {
  const info = { title: 'Kubernetes', version: serverVersion.gitVersion };
  if (!accept.includes('protobuf')) return { code: 200, body: { swagger: '2.0', info, paths: {} } };
  // The message `{swagger: "2.0"}`.
  const body = Buffer.concat([Buffer.from([0x0a, 3]), Buffer.from('2.0')]);
  return { code: 200, body, contentType: 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf' };
}

function discovery(server: ServerContext, parts: readonly string[], request: IncomingMessage): Answer {
  const { registry } = server;
  const core = parts[0] === 'api';
  if (parts.length === 1) {
    const format = negotiate(request.headers.accept, ['APIGroupDiscoveryList']);
    if (format.as === 'APIGroupDiscoveryList') {
      const contentType = `application/json;g=apidiscovery.k8s.io;v=${format.version};as=APIGroupDiscoveryList`;
      return { code: 200, body: json(aggregated(registry, core, format.version)), contentType };
    }
    return { code: 200, body: core ? coreVersions(request.headers.host ?? '') : groupList(registry) };
  }
  const [, first = '', second = ''] = parts;
  const document =
    !core && parts.length === 2
      ? groupDocument(registry, first)
      : resourceList(registry, core ? '' : first, core ? first : second);
  if (document === undefined) throw noSuchPath();
  return { code: 200, body: document };
}
