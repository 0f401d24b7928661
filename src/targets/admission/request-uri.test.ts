import { expect, test } from 'vitest';
import { requestUriError } from './request-uri.ts';

test.each([
  'https://api.test',
  'https://a:80:90',
  'http://api.test:8443/path',
  '/path',
  'https://[::1]:6443/',
  'localhost:8080',
  'https:x',
  '*',
])('requestUriError accepts %s', (text) => {
  expect(requestUriError(text)).toBeUndefined();
});

// The errors of go1.26.
test.each([
  ['', 'parse "": empty url'],
  ['api.test.com', 'parse "api.test.com": invalid URI for request'],
  ['127.0.0.1:8443', 'parse "127.0.0.1:8443": invalid URI for request'],
  ['://x', 'parse "://x": missing protocol scheme'],
  ['https://a b', 'parse "https://a b": invalid character " " in host name'],
  ['https://a:port', 'parse "https://a:port": invalid port ":port" after host'],
  ['https://[::1', `parse "https://[::1": missing ']' in host`],
  ['https://a[b]', 'parse "https://a[b]": invalid IP-literal'],
  ['https://a%20b/', 'parse "https://a%20b/": invalid URL escape "%20"'],
  ['https://a/%zz', 'parse "https://a/%zz": invalid URL escape "%zz"'],
  ['https://u p@h', 'parse "https://u p@h": net/url: invalid userinfo'],
  ['https://a\n', String.raw`parse "https://a\n": net/url: invalid control character in URL`],
  ['https://a\u007f', String.raw`parse "https://a\x7f": net/url: invalid control character in URL`],
])('requestUriError rejects %j: %s', (text, error) => {
  expect(requestUriError(text)).toBe(error);
});
