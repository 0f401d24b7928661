// Patterns of schemas and rules are written for RE2; this compiles them for the JavaScript engine, once each.
const compiled = new Map<string, RegExp>();
const most = 5000;

/** Compiles an RE2 pattern. Throws a SyntaxError with the engine's text when it is not valid. */
export function re2(pattern: string): RegExp {
  const known = compiled.get(pattern);
  if (known !== undefined) return known;
  if (compiled.size >= most) compiled.clear();
  const expression = compile(pattern);
  compiled.set(pattern, expression);
  return expression;
}

function compile(pattern: string): RegExp {
  let source = pattern;
  let flags = '';
  // RE2 takes flags at the start of the pattern; JavaScript takes them beside it.
  const leading = /^\(\?([ims]+)\)/.exec(source);
  if (leading !== null) {
    flags = leading[1]!;
    source = source.slice(leading[0].length);
  }
  source = source.replaceAll('(?P<', '(?<').replace(/^\\A/, '^').replace(/\\z$/, '$');
  for (const [name, range] of Object.entries(posixClasses)) source = source.replaceAll(`[:${name}:]`, range);
  try {
    return new RegExp(source, `${flags}u`);
  } catch {
    // Escapes such as `\-` outside of a class are fine for RE2 but not in JavaScript's strict mode.
    return new RegExp(source, flags);
  }
}

const posixClasses: Readonly<Record<string, string>> = {
  alnum: 'A-Za-z0-9',
  alpha: 'A-Za-z',
  digit: '0-9',
  lower: 'a-z',
  upper: 'A-Z',
  space: '\\s',
  word: '\\w',
  xdigit: '0-9A-Fa-f',
  punct: '!-\\/:-@\\[-`{-~',
};
