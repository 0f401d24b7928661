// Two components that know a map and not each other: one publishes the stock of a shop, the other reacts to it.
//   node examples/watchable.ts
import { handleSubscription, WatchableMap } from 'offshoot/watchable';

interface Stock {
  readonly left: number;
}

const stock = new WatchableMap<string, Stock>({ name: 'stock' });
const stopping = new AbortController();

// Called once for each article that is there already, then for each that changed.
const running = handleSubscription(
  stock.subscribe({ signal: stopping.signal }),
  ({ key, value, delete: isGone }) => {
    if (isGone) console.log(`${key}: no longer sold`);
    else console.log(`${key}: ${value.left === 0 ? 'sold out' : `${value.left} left`}`);
    if (isGone) stopping.abort();
  },
  { runner: 'shelf', message: 'stock' },
);

stock.store('tea', { left: 2 });
stock.store('coffee', { left: 5 });
await turn();
stock.store('tea', { left: 2 }); // the same again: nobody is told
stock.store('coffee', { left: 1 });
stock.store('coffee', { left: 0 }); // the handler sees the last of what happened meanwhile
await turn();
stock.delete('tea');
await running;

/** Lets the other component work. */
function turn(): Promise<void> {
  return new Promise((resolve) => void setImmediate(resolve));
}
