// provisional
import type { Answer } from './answer.ts';
import type { Target } from './context.ts';
import { noSuchPath } from './fault.ts';
import type { ResourceRequest, ServerContext } from './server-context.ts';

export async function answerSubresource(
  _server: ServerContext,
  _call: ResourceRequest,
  _target: Target,
): Promise<Answer> {
  throw noSuchPath();
}
