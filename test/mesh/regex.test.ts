// Envoy accepts every regular expression that Offshoot accepts, with the same meaning; one that it rejects would block
// the mesh.
import * as fc from 'fast-check';
import { beforeAll, expect, test } from 'vitest';
import { VirtualService } from '../../src/traffic/istio/objects.ts';
import type { HttpRoute } from '../../src/traffic/istio/objects.ts';
import { matchesRegex, regexProblem } from '../../src/traffic/regex/regex.ts';
import { describeMeshes } from './index.ts';
import type { Proxy } from './mesh.ts';
import { makeWorkloads } from './workload.ts';

const REGEXES = 200;
const NAMESPACE = 'shop';

describeMeshes('regular expressions', { debounce: '1ms', clusters: ['embedded'] }, (handle) => {
  let web: Proxy;

  beforeAll(async () => {
    const { mesh } = handle;
    await makeWorkloads(mesh.client, NAMESPACE, ['orders'], mesh.ports[0]!);
    web = await mesh.caller({ name: 'web', namespace: NAMESPACE });
  });

  async function writeRoutes(http: readonly HttpRoute[]): Promise<void> {
    const ref = { namespace: NAMESPACE, name: 'orders' };
    await handle.mesh.client.patch(VirtualService, ref, { type: 'merge', body: { spec: { http } } });
  }

  test('that Offshoot accepts match the same values in Envoy', async () => {
    const regexes = fc.sample(regex, REGEXES * 4).filter((each) => each !== '' && regexProblem(each) === undefined);
    const tried = [...new Set([large(32), ...regexes])].slice(0, REGEXES);
    expect(tried.length).toBeGreaterThan(REGEXES / 2);
    await writeRoutes(
      tried.map((each, i) => ({
        match: [{ uri: { exact: `/${i}` }, headers: { 'x-value': { regex: each } } }],
        directResponse: { status: 200 },
      })),
    );
    await handle.mesh.settled();
    const values = fc.sample(value, 4 * tried.length);
    let matching = 0;
    for (const [i, each] of tried.entries()) {
      for (const text of values.slice(4 * i, 4 * i + 4)) {
        const { status } = await web.ask({ host: 'orders', path: `/${i}`, headers: [['x-value', text]] });
        expect([each, text, status === 200]).toEqual([each, text, matchesRegex(each, text)]);
        matching += status === 200 ? 1 : 0;
      }
    }
    expect(matching).toBeGreaterThan(tried.length / 10);
  });

  const refused = ['(', '([', '*a', 'a\\', 'a(?=b)', String.raw`(a)\1`, 'a{1,2000}', large(33)];
  test.each(refused)('that Envoy rejects block every update of their port until they are removed: %s', async (bad) => {
    expect(regexProblem(bad)).toBeDefined();
    const respond = (match: HttpRoute['match'] & {}): HttpRoute => ({ match, directResponse: { status: 200 } });
    await writeRoutes([respond([{ headers: { 'x-value': { regex: bad } } }])]);
    await expect(handle.mesh.settled(2_000)).rejects.toThrow('web to take what was written');
    await writeRoutes([respond([{ headers: { 'x-value': { regex: '()' } } }])]);
    await handle.mesh.settled();
  });
});

/** Istio's limit for a proxy is 32,768 instructions. */
function large(thousands: number): string {
  return 'a{1000}'.repeat(thousands);
}

const letter = fc.constantFrom('a', 'b', 'A', '-', '1');
const value = fc.string({ unit: letter, maxLength: 4 });

/** Expressions over a few letters: mostly well-formed, with syntax that RE2 has and lacks. */
const { regex } = fc.letrec<{ regex: string; atom: string }>((tie) => ({
  regex: fc.array(tie('atom'), { minLength: 1, maxLength: 3 }).map((atoms) => atoms.join('')),
  atom: fc.oneof(
    { maxDepth: 3 },
    letter,
    fc.constantFrom('.', '.*', '.+', '^', '$', '[ab]', '[^a]', '[a-c1]', '[[:alpha:]]', '(?i)', '(?s)', '(?-i)'),
    fc.constantFrom(String.raw`\d`, String.raw`\w`, String.raw`\b`, String.raw`\pL`, String.raw`\Q-\E`, String.raw`\z`),
    fc.constantFrom(String.raw`\C`, String.raw`\x61`, String.raw`\Z`, '[', ')', '(?=a)', String.raw`\1`, 'a{2000}'),
    fc
      .tuple(tie('regex'), fc.constantFrom('*', '+', '?', '*?', '{2}', '{1,3}', '{,2}', ''))
      .map(([each, times]) => `(?:${each})${times}`),
    fc.tuple(tie('regex'), tie('regex')).map(([one, other]) => `(${one}|${other})`),
    tie('regex').map((each) => `(?P<name>${each})`),
    tie('regex').map((each) => `(?i:${each})`),
  ),
}));
