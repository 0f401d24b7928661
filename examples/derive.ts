// A pipeline: tables of gateways and routes → a translator → the configuration of each gateway, which two components
// watch: a server hands it to proxies, a reporter reports the result of each route.
//   node examples/derive.ts
import { derive, handleSubscription, Overlay, WatchableMap } from 'offshoot/watchable';

interface Gateway {
  readonly port: number;
}
interface Route {
  readonly gateway: string;
  readonly host: string;
}
interface Config {
  readonly port: number;
  readonly hosts: readonly string[];
}

// What a provider has seen. It stores and deletes, and knows nobody who reads.
const gateways = new WatchableMap<string, Gateway>({ name: 'gateways' });
const routes = new WatchableMap<string, Route>({ name: 'routes', indexes: { gateway: (route) => [route.gateway] } });

// The translator is a function. It runs again for a gateway only when something that it read for that one has changed.
const configs = derive(
  'configs',
  (read, name: string): Config => {
    console.log(`translator: ${name}`);
    const { port } = read.get(gateways, name)!;
    const hosts = new Set(read.index(routes, 'gateway', name).map(({ host }) => host));
    return { port, hosts: [...hosts].sort() };
  },
  { keys: gateways },
);

const stopping = new AbortController();
const watch = (component: string, tell: (name: string, config: Config) => string): Promise<void> =>
  handleSubscription(
    configs.subscribe({ signal: stopping.signal }),
    ({ key, value, delete: isGone }) => console.log(`${component}: ${isGone ? `${key} is gone` : tell(key, value)}`),
    { runner: component, message: 'configs' },
  );

gateways.store('public', { port: 443 });
gateways.store('internal', { port: 80 });
const components = [
  watch('server', (name, { port, hosts }) => `${name} listens on ${port} for ${hosts.join(', ') || 'nobody'}`),
  watch('reporter', (name, { hosts }) => `${name} has ${hosts.length} hosts`),
];
await turn();

routes.store('shop', { gateway: 'public', host: 'shop.example.com' });
await turn();
routes.store('shop-v2', { gateway: 'public', host: 'shop.example.com' }); // an equal result: nobody is told
await turn();

// What if the gateway had another port? Computed by the same translator; nobody hears of it.
const overlay = new Overlay();
overlay.store(gateways, 'public', { port: 8443 });
console.log(`what if: ${JSON.stringify(overlay.read.get(configs, 'public'))}`);

gateways.delete('internal');
await turn();
stopping.abort();
await Promise.all(components);

/** Lets the components work. */
function turn(): Promise<void> {
  return new Promise((resolve) => void setImmediate(resolve));
}
