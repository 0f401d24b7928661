// placeholder
import { badRequest } from './fault.ts';
export function decodeProtobuf(_body: Buffer): unknown {
  throw badRequest('protobuf bodies are not understood');
}
