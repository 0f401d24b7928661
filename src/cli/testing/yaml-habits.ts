// YAML that kubectl reads or rejects unlike other parsers.

/** Texts, and the values that kubectl reads. */
export const takenByKubectl: readonly (readonly [text: string, value: unknown])[] = [
  ['a:\n  b: "first\n  second"\n', { a: { b: 'first second' } }],
  ['a:\n  b: "first\nsecond"\nc: 1\n', { a: { b: 'first second' }, c: 1 }],
  ["a:\n  b: 'it''s\n  second'\n", { a: { b: "it's second" } }],
  ['a:\n  b: "first\n\n  \\"second\\\n  \\""\n', { a: { b: 'first\n"second"' } }],
  ['a: "first\n\tsecond"\n', { a: 'first second' }],
  ['a:\r\n  b: "first\r\n  second"\r\n', { a: { b: 'first second' } }],
  ['a:\n- "x\n  y"\n- "z\nw"\n', { a: ['x y', 'z w'] }],
  ['a:\n- - "x\n  y"\n', { a: [['x y']] }],
  ['a: [\n  1\n]\n', { a: [1] }],
  ['a:\n  b: [\n1,\n2]\nc: 1\n', { a: { b: [1, 2] }, c: 1 }],
  ['a: [\n\t1,\n\t2\n]\nb: 1\n', { a: [1, 2], b: 1 }],
  ['a:\n  b: [ # c\n1, # "d\n2]\n', { a: { b: [1, 2] } }],
  ['a:\n  b: {\nc: "z\n}\n", d: don\'t}\n', { a: { b: { c: 'z } ', d: "don't" } } }],
  ['a:\n  b:\n    c: {\n      d: 1\n}\ne: 2\n', { a: { b: { c: { d: 1 } } }, e: 2 }],
  ['a: "x"#c\n', { a: 'x' }],
  ['a: 1\na: 2\n', { a: 2 }],
  ['a: {b: 1, b: 2}\n', { a: { b: 2 } }],
  ['a: !!binary aGk=\n', { a: 'hi' }],
  ['a: 0644\nb: 0o644\nc: 1:30\nd: 2026-11-15\ne: yes\n', { a: 420, b: 420, c: '1:30', d: '2026-11-15', e: true }],
];

/** Nine lists of nine aliases each: 9⁹ texts. */
const laughs = Array.from({ length: 9 }, (_none, index) => {
  const item = index === 0 ? 'ha' : `*a${index - 1}`;
  return `a${index}: &a${index} [${Array.from({ length: 9 }, () => item).join(', ')}]\n`;
}).join('');

/** Texts that kubectl rejects, and our error messages. */
export const refusedByKubectl: readonly (readonly [text: string, message: RegExp])[] = [
  ['a: .inf\n', /^\.inf is not a number for Kubernetes$/],
  ['a: [.NaN]\n', /^\.NaN is not a number for Kubernetes$/],
  ['~: a\n', /^a key must be a text$/],
  ['a:\n  ? {b: 1}\n  : c\n', /^a key must be a text$/],
  ['a:\n\tb: 1\n', /^a tab in the indentation: use spaces$/],
  ['a:\n\tb: 1\n  c: 2\n', /^a tab in the indentation: use spaces$/],
  ['a: "x\n', /^a quote \("\) is not closed$/],
  ["a: 'x\n", /^a quote \('\) is not closed$/],
  ['a:\n  b: "x\n---\ny"\n', /^a quote \("\) is not closed$/],
  ['a: [1, 2\nb: 3\n', /^"]" is missing, or a line before it is not indented$/],
  ['{a: 1', /^"}" is missing, or a line before it is not indented$/],
  ['a: b: c\n', /^a second ": " in one line: put the value in quotes, or on a line of its own$/],
  ['a:\n  b: 1\n c: 2\n', /^the keys of a mapping must be indented alike$/],
  ['a:\n  - 1\n - 2\n', /^an item of a list among the keys of a mapping$/],
  ['a:\n  -  b: 1\n   - c\n', /^the items of a list must be indented alike$/],
  ['a: 1\n  b: 2\n', /^the line after this value is indented too far, or the value needs quotes$/],
  ['a: 1\nb\n', /^a key without ":"$/],
  ['a: 1\n- b\n', /^an item of a list among the keys of a mapping$/],
  ['a: *b\n', /^no anchor &b before the alias \*b$/],
  [laughs, /^aliases of aliases would make it too large$/],
];
