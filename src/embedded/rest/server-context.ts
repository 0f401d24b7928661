// What the handlers of requests share beyond the cluster itself.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Access } from '../auth/access.ts';
import type { Cluster, UserInfo } from './context.ts';
import type { OpenApi } from './openapi.ts';
import type { RequestLine } from './request.ts';
import type { Watches } from './watch-stream.ts';

export interface ServerContext extends Cluster {
  readonly access: Access;
  readonly openApi: OpenApi;
  readonly watches: Watches;
  /** False until everything is there that a cluster starts with. */
  readonly isReady: () => boolean;
  /** Told of errors that are the server's own fault. */
  readonly onError: (error: unknown) => void;
}

/** One request for a resource, as the verbs' handlers get it. */
export interface ResourceRequest {
  readonly line: RequestLine;
  readonly verb: string;
  readonly user: UserInfo;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly warn: (text: string) => void;
}
