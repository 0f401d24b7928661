// Which matches get no route, and why.
import { expect, test } from 'vitest';
import { unusable } from './unusable.ts';

const never = (why: string): string => `no request fits it, because ${why}`;

test.each([
  [{}, 'it asks for nothing'],
  [{ headers: {}, sourceLabels: {} }, 'it asks for nothing'],
  [{ headers: { user: {} } }, 'it has neither exact, prefix nor regex for header user'],
  [{ headers: { user: { exact: '' } } }, 'it has neither exact, prefix nor regex for header user'],
  [{ headers: { user: { regex: '(' } } }, 'header user: regex "(": not valid RE2 (missing closing ): `(`)'],
  [{ headers: { user: { regex: '*' } } }, undefined],
  [{ headers: { user: { prefix: 'a' } } }, undefined],
  [{ headers: { user: { prefix: 'a ' } } }, undefined],
  [{ headers: { user: { exact: 'жук\tü' } } }, undefined],
  [{ headers: { user: { regex: 'ж.*' } } }, undefined],
  [{ headers: { user: { regex: ' ?a' } } }, undefined],
  [{ headers: { '@request.auth.claims.name': { exact: ' a' } } }, undefined],
  [{ headers: { user: { prefix: 'a' }, User: { exact: 'ab' } } }, undefined],
  [
    { headers: { user: { regex: 'a$b' } } },
    never('regex "a$b" of header user matches no value that a header can have'),
  ],
  [{ headers: { user: { regex: ' a' } } }, never('regex " a" of header user matches no value that a header can have')],
  [
    { headers: { user: { exact: 'a b\nc' } } },
    never('exact "a b\\nc" of header user has a control character, such as a line break, and no header can have one'),
  ],
  [
    { headers: { user: { prefix: '\0' } } },
    never('prefix "\\u0000" of header user has a control character, such as a line break, and no header can have one'),
  ],
  [{ headers: { user: { exact: ' a' } } }, never('exact " a" of header user begins with a blank, which HTTP removes')],
  [{ headers: { user: { exact: 'a\t' } } }, never('exact "a\\t" of header user ends with a blank, which HTTP removes')],
  [
    { headers: { user: { exact: 'a' }, User: { exact: 'b' } } },
    never('exact "b" of header User contradicts exact "a" of header user: names of headers are case-insensitive'),
  ],
  [{ sourceLabels: { app: 'test' } }, undefined],
  [
    { sourceLabels: { app: '*' } },
    'source label "app=*": "*" is not a label value: it must be at most 63 letters, digits, "-", "_" or ".", a letter or digit at both ends',
  ],
])('unusable(%j): %s', (match, problem) => {
  expect(unusable(match)).toBe(problem);
});
