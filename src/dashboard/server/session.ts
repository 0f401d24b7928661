// Signing in and out. The token is sent once, in a request body; it is never part of a URL.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Logger } from '../../controller/index.ts';
import type { Access } from '../access/visitors.ts';
import { Refused } from '../refused.ts';
import { answerJson } from './answer.ts';
import { readJson } from './body.ts';

/** Answers requests to `/api/session`. */
export async function answerSession(
  request: IncomingMessage,
  response: ServerResponse,
  access: Access,
  { logger }: { readonly logger?: Logger },
): Promise<void> {
  const { method = 'GET' } = request;
  switch (method) {
    case 'POST': {
      const { token } = await readJson(request);
      if (typeof token !== 'string' || token.trim() === '') throw new Refused(400, 'the field "token" is missing');
      const { name, cookie } = await access.signIn(request, token);
      logger?.info({ user: name }, 'signed in to the dashboard');
      answerJson(response, { user: name }, { 'set-cookie': cookie });
      return;
    }
    case 'DELETE':
      answerJson(response, {}, { 'set-cookie': access.signOut(request) });
      return;
    default:
      throw new Refused(405, `there is no ${method} /api/session`);
  }
}
