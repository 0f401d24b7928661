// Preloaded into `offshoot` (see `observed`): reports what the process does at start-up that nothing else shows.
// Default ports may be in use on the machine, so servers listen on a free port of the same address.
import { syncBuiltinESMExports } from 'node:module';
import net from 'node:net';
import v8 from 'node:v8';

function report(fields: object): void {
  process.stderr.write(`${JSON.stringify(fields)}\n`);
}

// The method of a prototype is called with its server.
// oxlint-disable-next-line typescript/unbound-method
const listen = net.Server.prototype.listen as (...args: unknown[]) => net.Server;
net.Server.prototype.listen = function (this: net.Server, port: unknown, host: unknown): net.Server {
  report({ msg: `listens on port ${String(port)}`, host });
  return listen.call(this, 0, host);
};

const { setFlagsFromString } = v8;
v8.setFlagsFromString = (flag) => {
  report({ msg: `sets ${flag}` });
  setFlagsFromString(flag);
};
syncBuiltinESMExports();
