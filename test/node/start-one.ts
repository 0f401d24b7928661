// Starts a node without a mesh, prints its folder, and waits to be killed. leftovers.test.ts runs it.
import { startRealNode } from './node.ts';

const { dir } = await startRealNode();
console.log(dir);
setInterval(() => undefined, 60_000);
