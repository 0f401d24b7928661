// Validates the syntax of names, labels and keys, with the messages of the API server.
const labelPattern = '[a-z0-9]([-a-z0-9]*[a-z0-9])?';
const subdomainPattern = `${labelPattern}(\\.${labelPattern})*`;
const namePartPattern = '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]';

/** Returns the problems of a name. */
export type NameCheck = (text: string) => readonly string[];

/** The message for a text that does not match a pattern. */
function patternText(rule: string, pattern: string, ...examples: readonly string[]): string {
  const shown = examples.map((example, index) => `${index === 0 ? '' : ' or '}'${example}', `).join('');
  return `${rule} (${examples.length === 0 ? '' : 'e.g. '}${shown}regex used for validation is '${pattern}')`;
}

function atMost(length: number, unit: 'characters' | 'bytes' = 'characters'): string {
  return `must be no more than ${length} ${unit}`;
}

function check(text: string, pattern: string, most: number, problem: string): string[] {
  const problems: string[] = [];
  if (Buffer.byteLength(text) > most) problems.push(atMost(most));
  if (!new RegExp(`^(?:${pattern})$`).test(text)) problems.push(problem);
  return problems;
}

const label1123 = patternText(
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character",
  labelPattern,
  'my-name',
  '123-abc',
);
const subdomain1123 = patternText(
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character",
  subdomainPattern,
  'example.com',
);
const label1035Pattern = '[a-z]([-a-z0-9]*[a-z0-9])?';
const label1035 = patternText(
  "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character",
  label1035Pattern,
  'my-name',
  'abc-123',
);
const labelValuePattern = '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?';
const labelValueText = patternText(
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
  labelValuePattern,
  'MyValue',
  'my_value',
  '12345',
);
const namePartText = patternText(
  "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
  namePartPattern,
  'MyName',
  'my.name',
  '123-abc',
);
export const dns1123LabelProblems: NameCheck = (text) => {
  const dotted = text.includes('.') && dns1123SubdomainProblems(text).length === 0;
  return check(text, labelPattern, 63, dotted ? 'must not contain dots' : label1123);
};
export const dns1123SubdomainProblems: NameCheck = (text) => check(text, subdomainPattern, 253, subdomain1123);
export const dns1035LabelProblems: NameCheck = (text) => check(text, label1035Pattern, 63, label1035);
export const labelValueProblems: NameCheck = (text) => {
  const problems = check(text, labelValuePattern, Infinity, labelValueText);
  return text.length > 63 ? [atMost(63, 'bytes'), ...problems] : problems;
};

/** A key such as `app.kubernetes.io/name`: an optional domain and a name. */
export const qualifiedNameProblems: NameCheck = (text) => {
  const parts = text.split('/');
  const problems: string[] = [];
  let name = text;
  if (parts.length === 2) {
    const [prefix = '', rest = ''] = parts;
    name = rest;
    if (prefix === '') problems.push('prefix part must be non-empty');
    else problems.push(...dns1123SubdomainProblems(prefix).map((problem) => `prefix part ${problem}`));
  } else if (parts.length > 2) {
    const rule = namePartText.replace('name part', 'a valid label key');
    return [`${rule} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`];
  }
  if (name === '') problems.push('name part must be non-empty');
  else if (name.length > 63) problems.push(`name part ${atMost(63, 'bytes')}`);
  if (!new RegExp(`^(?:${namePartPattern})$`).test(name)) problems.push(namePartText);
  return problems;
};

/** Names of RBAC objects: one segment of a URL path. */
export const pathSegmentProblems: NameCheck = (text) => {
  if (text === '.' || text === '..') return [`may not be '${text}'`];
  return ['/', '%']
    .filter((character) => text.includes(character))
    .map((character) => `may not contain '${character}'`);
};

const portNamePattern = /^[-a-z0-9]+$/;

/** Port names, as IANA allows them. */
export const portNameProblems: NameCheck = (text) => {
  const problems: string[] = [];
  if (text.length > 15) problems.push('must be no more than 15 characters');
  if (!portNamePattern.test(text))
    problems.push('must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)');
  if (!/[a-z]/.test(text)) problems.push('must contain at least one letter (a-z)');
  if (text.includes('--')) problems.push('must not contain consecutive hyphens');
  if (text.startsWith('-') || text.endsWith('-')) problems.push('must not begin or end with a hyphen');
  return problems;
};
const configKeyPattern = '[-._a-zA-Z0-9]+';

/** Keys of ConfigMaps and Secrets. */
export const configKeyProblems: NameCheck = (text) => {
  const rule = "a valid config key must consist of alphanumeric characters, '-', '_' or '.'";
  const problems = check(
    text,
    configKeyPattern,
    253,
    patternText(rule, configKeyPattern, 'key.name', 'KEY_NAME', 'key-name'),
  );
  if (text === '.') problems.push("must not be '.'");
  else if (text === '..') problems.push("must not be '..'");
  else if (text.startsWith('..')) problems.push("must not start with '..'");
  return problems;
};
