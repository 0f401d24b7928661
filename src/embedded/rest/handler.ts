// Handles one HTTP request: parses, authenticates, authorizes, calls the verb and sends the response.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { PatchError } from '../patch/errors.ts';
import { send, statusAnswer } from './wire/answer.ts';
import type { Answer } from './wire/answer.ts';
import { Fault, internal } from './fault.ts';
import { parseRequestLine, verbOf } from './request.ts';
import type { ServerContext } from './server-context.ts';
import { json } from './wire/represent.ts';
import { answerPath } from './paths.ts';
import { answerResource } from './resources.ts';

/** The request listener of the HTTPS server. It never throws and always responds. */
export function requestHandler(server: ServerContext): (request: IncomingMessage, response: ServerResponse) => void {
  return (request, response) => {
    const warnings: string[] = [];
    void handle(server, request, response, warnings)
      .catch((error: unknown) => faultAnswer(server, error))
      .then((answer) => (answer === undefined ? undefined : send(request, response, answer, warnings)))
      .catch(() => response.destroy());
  };
}

/** Answers requests that are not valid HTTP or have too long headers. */
export function refuseGarbage(error: Error & { readonly code?: string }, socket: Duplex): void {
  if (!socket.writable || error.code === 'ECONNRESET') {
    socket.destroy();
    return;
  }
  const tooLong = error.code === 'HPE_HEADER_OVERFLOW';
  const line = tooLong ? '431 Request Header Fields Too Large' : '400 Bad Request';
  const fault = tooLong
    ? new Fault(431, 'RequestHeaderFieldsTooLarge', 'the request line or the headers are too long')
    : new Fault(400, 'BadRequest', 'the request is not valid HTTP');
  const body = json(fault.status);
  socket.end(
    `HTTP/1.1 ${line}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n${body.toString()}`,
  );
}

async function handle(
  server: ServerContext,
  request: IncomingMessage,
  response: ServerResponse,
  warnings: string[],
): Promise<Answer | undefined> {
  const line = parseRequestLine(request.method ?? 'GET', request.url ?? '/');
  const verb = verbOf(line);
  if (line.resource === undefined && server.access.isPublic(line.path)) return answerPath(server, line, request);
  const user = server.access.authenticate(request);
  server.access.authorize(user, verb, line);
  if (line.resource === undefined) return answerPath(server, line, request);
  const warn = (text: string): void => {
    warnings.push(text);
  };
  return answerResource(server, { line, verb, user, request, response, warn }, line.resource);
}

function faultAnswer(server: ServerContext, error: unknown): Answer {
  if (error instanceof Fault) return statusAnswer(error.status);
  if (error instanceof PatchError) {
    const details = error.causes.length === 0 ? undefined : { causes: error.causes };
    return statusAnswer(new Fault(error.code, error.reason, error.message, details).status);
  }
  server.onError(error);
  return statusAnswer(internal(error instanceof Error ? error.message : String(error)).status);
}
