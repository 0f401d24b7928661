// Why a rule did not match a request, in words.
import { baggageMember } from '../baggage.ts';
import type { Mismatch } from '../fits.ts';
import type { HeaderMatch } from '../istio/objects.ts';
import type { HeaderCondition, RuleMatch } from '../rules.ts';

const quoted = (text: string): string => JSON.stringify(text);

/** Why a rule did not match: `header x-env is "pr-8", not "pr-7"`. */
export function mismatchText(mismatch: Mismatch): string {
  switch (mismatch.on) {
    case 'excluded':
      return mismatch.reason;
    case 'refused':
      return `Envoy refuses it: ${mismatch.reason}`;
    case 'source':
      return `it is for callers ${callersText(mismatch.wanted)}`;
    case 'path': {
      const { wanted: condition, found } = mismatch;
      const anyCase = condition.ignoreCase ? ', in upper or lower case' : '';
      return `path is ${lackText(condition.value, [found])}${anyCase}`;
    }
    case 'header':
      return headerText(mismatch.wanted, mismatch.found);
    case 'query': {
      const { name, wanted: match, found } = mismatch;
      const what = `query parameter ${name}`;
      return found === undefined ? missingText(what, match) : `${what} is ${lackText(match, [found])}`;
    }
  }
}

/** Pseudo-headers are printed without the colon. */
function headerText({ name, value, negated }: HeaderCondition, found: readonly string[]): string {
  const what = name.startsWith(':') ? name.slice(1) : `header ${name}`;
  if (!negated) return found.length === 0 ? missingText(what, value) : `${what} is ${lackText(value, found)}`;
  if (found.length === 0) return `${what} is missing (treated as empty) and must not ${formText(value)}`;
  return `${what} is ${listText(found)} and must not ${formText(value)}`;
}

function missingText(what: string, match: HeaderMatch): string {
  return `${what} is missing and must ${formText(match)}`;
}

/** What was found, and the condition that it fails. */
function lackText(match: HeaderMatch, found: readonly string[]): string {
  const { exact, prefix, regex } = match;
  if (exact !== undefined) return `${listText(found)}, not ${quoted(exact)}`;
  const lacks = prefix === undefined ? regexText(regex ?? '') : `start with ${quoted(prefix)}`;
  return `${listText(found)} and does not ${lacks}`;
}

/** A condition, as it reads after "must" or "must not". */
function formText({ exact, prefix, regex }: HeaderMatch): string {
  if (exact !== undefined) return `be ${quoted(exact)}`;
  if (prefix !== undefined) return `start with ${quoted(prefix)}`;
  return regex === undefined ? 'be there' : regexText(regex);
}

/** A regular expression for the key of an environment is printed as the key. */
function regexText(regex: string): string {
  const member = baggageMember(regex);
  return member === undefined ? `match regex ${quoted(regex)}` : `hold ${member}`;
}

function listText(found: readonly string[]): string {
  return found.map(quoted).join(' and ');
}

function callersText({ namespace, labels = {} }: NonNullable<RuleMatch['source']>): string {
  const all = Object.entries(labels).map(([name, value]) => `${name}=${value}`);
  return [
    ...(namespace === undefined ? [] : [`in namespace ${namespace}`]),
    ...(all.length > 0 ? [`with ${all.length === 1 ? 'the label' : 'the labels'} ${all.join(', ')}`] : []),
  ].join(' ');
}
