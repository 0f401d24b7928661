// YAML read the way kubectl reads it (YAML 1.1 booleans and octals, no timestamps). Loaded only when YAML arrives.
import { parse } from 'yaml';
import type { Tags } from 'yaml';

const goOctal = {
  identify: (value: unknown) => typeof value === 'number',
  default: true,
  tag: 'tag:yaml.org,2002:int',
  format: 'OCT12',
  test: /^0o[0-7_]+$/,
  resolve: (text: string) => parseInt(text.slice(2).replaceAll('_', ''), 8),
};

/** Parses one YAML document into plain JSON. */
export function parseYaml(text: string): unknown {
  return parse(text, {
    version: '1.1',
    merge: true,
    intAsBigInt: false,
    customTags: (tags: Tags): Tags => [
      goOctal,
      ...tags.filter(
        (tag) =>
          typeof tag === 'string' || (!/timestamp|binary|omap|pairs|set$/.test(tag.tag ?? '') && !isSexagesimal(tag)),
      ),
    ],
  });
}

function isSexagesimal(tag: object): boolean {
  return 'format' in tag && tag.format === 'TIME';
}
