// How an answer is formatted: in one line, as JSON and as a page.
import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { hopsOf, pathOf } from './answer.ts';
import type { CallResult, PodAnswer } from './answer.ts';
import { answerJson } from './answer-json.ts';
import { answerPage, PAGE_HEADERS } from './page.ts';

const pod = (service: string, image: string, ...calls: readonly CallResult[]): PodAnswer => ({
  service,
  image,
  pod: `${service}-1`,
  calls,
});
const got = (answer: PodAnswer): CallResult => ({ url: 'http://x:8080/', status: 200, answer });

test.each([
  ['shop/reviews:2', 'reviews:2'],
  ['registry.example.com:5000/team/reviews:pr-7', 'reviews:pr-7'],
  ['reviews', 'reviews:latest'],
  ['my/own:3', 'reviews (my/own:3)'],
  ['reviews@sha256:0123', 'reviews (reviews@sha256:0123)'],
])('pathOf shows the image %s of reviews as %s', (image, name) => {
  expect(pathOf(got(pod('reviews', image)))).toBe(name);
});

test('pathOf puts several calls in brackets and says where a call failed', () => {
  const lost: CallResult = { url: 'http://stock.shop:8080/', status: 503, text: 'no healthy upstream' };
  const call = got(pod('a', 'a:1', got(pod('b', 'b:1', got(pod('c', 'c:1')))), lost));
  expect(pathOf(call)).toBe('a:1 → (b:1 → c:1, stock answered 503)');
  expect(hopsOf(call).map(({ service, version, status }) => [service, version ?? status])).toEqual([
    ['a', '1'],
    ['b', '1'],
    ['c', '1'],
    ['stock', 503],
  ]);
  expect(JSON.parse(answerJson(call))).toEqual({ path: pathOf(call), hops: hopsOf(call) });
});

const HOSTILE = `<script>alert("'&'")</script>`;

test('answerPage escapes all text that comes from objects of the cluster', () => {
  const lost: CallResult = { url: HOSTILE, status: 503, text: HOSTILE, route: HOSTILE };
  const page = answerPage({
    ...got({ ...pod(HOSTILE, HOSTILE, lost), pod: HOSTILE, environment: HOSTILE }),
    route: HOSTILE,
  });
  expect(page).not.toMatch(/<script|"'&'"/);
  expect(page).toContain('&lt;script&gt;alert(&quot;&#39;&amp;&#39;&quot;)&lt;/script&gt;');
});

test('answerPage has a single inline style, which its content security policy allows', () => {
  const page = answerPage(got(pod('a', 'a:1')));
  const [, style = ''] = /<style>([^]*)<\/style>/.exec(page) ?? [];
  const hash = createHash('sha256').update(style).digest('base64');
  expect(PAGE_HEADERS['content-security-policy']).toContain(`default-src 'none'; style-src 'sha256-${hash}'`);
  expect(page).not.toMatch(/style=|https?:|src=/);
});
