// Compiles the configuration that istiod sends a proxy for one host into ordered rules.
import { hostOf, isGatewaySource } from '../request.ts';
import type { Source } from '../request.ts';
import type { CompiledHost } from '../rules.ts';
import type { World } from '../world.ts';
import { compileAtGateway } from './gateway.ts';
import { compileInMesh } from './mesh.ts';

/**
 * The rules for a host and port, as a caller sees them. In the mesh, all pods of a namespace that share a Sidecar have
 * the same rules; conditions on the labels of the caller are part of the rules.
 */
export function compileHost(world: World, source: Source, host: string, port: number): CompiledHost {
  const name = hostOf(host);
  return isGatewaySource(source)
    ? compileAtGateway(world, source, name, port)
    : compileInMesh(world, source, name, port);
}
