// Validates a request URI like Go's url.ParseRequestURI, whose errors are part of a contract message.

/** The error of the parser; undefined for a valid URI. */
export function requestUriError(text: string): string | undefined {
  const problem = problemOf(text);
  return problem === undefined ? undefined : `parse ${goQuote(text)}: ${problem}`;
}

function problemOf(text: string): string | undefined {
  // oxlint-disable-next-line no-control-regex -- control characters are what is looked for
  if (/[\u0000-\u001f\u007f]/.test(text)) return 'net/url: invalid control character in URL';
  if (text === '') return 'empty url';
  if (text === '*') return undefined;
  if (text.startsWith(':')) return 'missing protocol scheme';
  const scheme = /^([A-Za-z][A-Za-z0-9+.-]*):/.exec(text)?.[0] ?? '';
  const rest = text.slice(scheme.length).replace(/\?.*$/s, '');
  // With a scheme and no slash, the rest is opaque; without a scheme, it must be a path.
  if (!rest.startsWith('/')) return scheme === '' ? 'invalid URI for request' : undefined;
  if (scheme === '' || !rest.startsWith('//')) return escapeProblem(rest);
  const [, authority = '', path = ''] = /^\/\/([^/]*)(.*)$/s.exec(rest) ?? [];
  return authorityProblem(authority) ?? escapeProblem(path);
}

function authorityProblem(authority: string): string | undefined {
  const at = authority.lastIndexOf('@');
  const user = authority.slice(0, Math.max(at, 0));
  return hostProblem(authority.slice(at + 1)) ?? userProblem(user);
}

function hostProblem(host: string): string | undefined {
  const close = host.lastIndexOf(']');
  if (host.startsWith('[') && close < 0) return "missing ']' in host";
  if (host.indexOf('[') > 0) return 'invalid IP-literal';
  const colon = host.lastIndexOf(':');
  const port = host.startsWith('[') ? host.slice(close + 1) : colon < 0 ? '' : host.slice(colon);
  if (!/^(:\d*)?$/.test(port)) return `invalid port ${goQuote(port)} after host`;
  // Only non-ASCII bytes and the percent sign may be escaped here.
  const unexpected =
    /%(?!25|[89A-Fa-f][0-9A-Fa-f]).{0,2}|[^A-Za-z0-9\-_.~!$&'()*+,;=:[\]<>"%\u0080-\uffff]/s.exec(host)?.[0] ?? '';
  if (unexpected.startsWith('%')) return `invalid URL escape ${goQuote(unexpected)}`;
  return unexpected === '' ? undefined : `invalid character ${goQuote(unexpected)} in host name`;
}

function userProblem(user: string): string | undefined {
  return /^[A-Za-z0-9\-._:~!$&'()*+,;=%@]*$/.test(user) ? escapeProblem(user) : 'net/url: invalid userinfo';
}

function escapeProblem(text: string): string | undefined {
  const broken = /%(?![0-9A-Fa-f]{2}).{0,2}/s.exec(text);
  return broken ? `invalid URL escape ${goQuote(broken[0])}` : undefined;
}

/** Quotes like Go's strconv.Quote. */
function goQuote(text: string): string {
  return JSON.stringify(text)
    .replaceAll('\u007f', String.raw`\x7f`)
    .replaceAll(/\\u00(..)/g, String.raw`\x$1`);
}
