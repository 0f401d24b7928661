// Starts a node without a mesh, says where it is, and waits to be killed. leftovers.test.ts runs it.
import { startRealNode } from './node.ts';

const { dir } = await startRealNode();
console.log(dir);
setInterval(() => undefined, 60_000);
