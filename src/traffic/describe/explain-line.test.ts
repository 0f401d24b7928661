// The commands that explain requests.
import { expect, test } from 'vitest';
import type { Request } from '../request.ts';
import { explainLine } from './explain-line.ts';

const REQUEST: Request = { host: 'cart.shop', port: 80, path: '/', source: { namespace: 'shop' } };

test.each<[string, Partial<Request>]>([
  ['offshoot explain GET http://cart.shop/ -n shop', {}],
  [
    'offshoot explain POST http://cart.shop:9080/a -n shop',
    { method: 'POST', port: 9080, host: 'cart.shop:9080', path: '/a' },
  ],
  ["offshoot explain GET http://cart.shop:9080/ -H 'host: cart.shop' -n shop", { port: 9080 }],
  ["offshoot explain GET 'https://cart.shop:80/?a=1' -H 'host: cart.shop' -n shop", { scheme: 'https', path: '/?a=1' }],
  [
    String.raw`offshoot explain GET http://cart.shop/ -H 'x-env: pr-7' -H 'x-env: it'\''s' --gateway edge/main`,
    { headers: { 'x-env': ['pr-7', "it's"] }, source: { gateway: 'edge/main' } },
  ],
  [
    `echo '{"method":"GET","url":"http://cart.shop/","headers":{"x-env":"a"},"from":{"namespace":"shop","labels":{"app":"web"}}}' | offshoot explain --requests -`,
    { headers: { 'x-env': 'a' }, source: { namespace: 'shop', labels: { app: 'web' } } },
  ],
])('explainLine prints %s', (line, request) => {
  expect(explainLine({ ...REQUEST, ...request })).toBe(line);
});
