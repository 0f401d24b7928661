// The context of request handlers.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Access } from '../auth/access.ts';
import type { Cluster, UserInfo } from './context.ts';
import type { OpenApi } from './discovery/openapi.ts';
import type { RequestLine } from './request.ts';
import type { Watches } from './watch/stream.ts';

export interface ServerContext extends Cluster {
  readonly access: Access;
  readonly openApi: OpenApi;
  readonly watches: Watches;
  /** False until bootstrapping is complete. */
  readonly isReady: () => boolean;
  /** Called with internal errors of the server. */
  readonly onError: (error: unknown) => void;
}

/** One request for a resource. */
export interface ResourceRequest {
  readonly line: RequestLine;
  readonly verb: string;
  readonly user: UserInfo;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly warn: (text: string) => void;
}
