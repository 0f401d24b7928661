// Finds fields that occur twice in one object of a JSON text. A parser silently keeps the last; strict field validation
// refuses them. Called for the bodies of writes.

interface Level {
  readonly path: string;
  /** Undefined in a list. */
  readonly names: Set<string> | undefined;
  name: string;
  index: number;
}

/** The paths of repeated fields, such as `spec.ports[0].name`, in the order of the text. The text must be valid JSON. */
export function duplicateFields(text: string): string[] {
  const found: string[] = [];
  const levels: Level[] = [];
  for (let at = 0; at < text.length; at++) {
    const level = levels.at(-1);
    const character = text.charAt(at);
    switch (character) {
      case '{':
      case '[':
        levels.push({ path: pathIn(level), names: character === '{' ? new Set() : undefined, name: '', index: 0 });
        break;
      case '}':
      case ']':
        levels.pop();
        break;
      case ',':
        if (level?.names === undefined) level!.index++;
        break;
      case '"': {
        const end = closingQuote(text, at);
        if (level?.names !== undefined && isName(text, end)) {
          level.name = JSON.parse(text.slice(at, end + 1)) as string;
          if (level.names.has(level.name)) found.push(pathIn(level));
          level.names.add(level.name);
        }
        at = end;
        break;
      }
      default:
    }
  }
  return found;
}

function pathIn(level: Level | undefined): string {
  if (level === undefined) return '';
  if (level.names === undefined) return `${level.path}[${level.index}]`;
  return level.path === '' ? level.name : `${level.path}.${level.name}`;
}

function closingQuote(text: string, opening: number): number {
  let end = opening + 1;
  while (text[end] !== '"') end += text[end] === '\\' ? 2 : 1;
  return end;
}

/** A string followed by a colon is a field name. */
function isName(text: string, end: number): boolean {
  let next = end + 1;
  while (/\s/.test(text[next] ?? '')) next++;
  return text[next] === ':';
}
