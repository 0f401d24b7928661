// A real Prometheus on loopback with given scrapes of our processes, at times that the test chooses.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { run } from '../programs/command.ts';
import { findPrograms } from '../programs/programs.ts';
import { prometheus } from '../programs/prometheus.ts';
import type { Requirement } from '../support/requirements.ts';

const found = findPrograms(prometheus);

export const prometheusRequirement: Requirement = {
  what: prometheus.title,
  missing: 'missing' in found ? found.missing : undefined,
  variable: 'OFFSHOOT_PROMETHEUS',
};

/** The metrics of a process at a moment. */
export interface Scrape {
  readonly instance: string;
  /** In seconds since 1970. */
  readonly at: number;
  readonly text: string;
}

interface Selector {
  readonly name: string;
  readonly labels: readonly string[];
}

export interface Prometheus {
  /** How many series a query returns at a moment. */
  count(expr: string, at: number): Promise<number>;
  /** The metrics that a query reads, with the labels that it names. */
  selectors(expr: string): Promise<readonly Selector[]>;
  stop(): Promise<void>;
}

/** Checks files of alert rules as `promtool check rules` does. */
export function checkRules(file: string): Promise<string> {
  return run(program('promtool'), ['check', 'rules', '--lint=all', '--lint-fatal', file], { cwd: path.dirname(file) });
}

/** Runs a file of tests for alert rules as `promtool test rules` does. */
export function testRules(file: string): Promise<string> {
  return run(program('promtool'), ['test', 'rules', file], { cwd: path.dirname(file) });
}

/** Starts Prometheus with these scrapes. */
export async function startPrometheus(scrapes: readonly Scrape[]): Promise<Prometheus> {
  const dir = mkdtempSync(path.join(tmpdir(), 'offshoot-prometheus-'));
  const data = path.join(dir, 'data');
  mkdirSync(data);
  writeFileSync(path.join(dir, 'prometheus.yml'), 'global: {}\n');
  writeFileSync(path.join(dir, 'scrapes'), openMetrics(scrapes));
  const blocks = ['tsdb', 'create-blocks-from', 'openmetrics', path.join(dir, 'scrapes'), data];
  await run(program('promtool'), blocks, { cwd: dir });
  const child = spawn(
    program('prometheus'),
    [
      `--config.file=${path.join(dir, 'prometheus.yml')}`,
      `--storage.tsdb.path=${data}`,
      '--storage.tsdb.retention.time=10y',
      '--web.listen-address=127.0.0.1:0',
    ],
    { cwd: dir, stdio: ['ignore', 'ignore', 'pipe'] },
  );
  const lines: string[] = [];
  let url = '';
  let ready = false;
  // The lines with the address and with the readiness come in either order.
  const isReady = (line: string): boolean => {
    url ||= /msg="Listening on" .*address=(\S+)/.exec(line)?.[1] ?? '';
    ready ||= line.includes('Server is ready to receive web requests');
    return ready && url !== '';
  };
  for await (const line of createInterface(child.stderr)) {
    lines.push(line);
    if (isReady(line)) break;
  }
  if (url === '') throw new Error(`Prometheus did not start:\n${lines.join('\n')}`);
  child.stderr.resume();
  const ask = async <T>(resource: string, query: Readonly<Record<string, string>>): Promise<T> => {
    const response = await fetch(`http://${url}/api/v1/${resource}?${new URLSearchParams(query).toString()}`);
    const { status, data: answer, error } = (await response.json()) as { status: string; data: T; error?: string };
    if (status !== 'success') throw new Error(`${error ?? status}: ${query['query']}`);
    return answer;
  };
  return {
    count: async (expr, at) => {
      const { result } = await ask<{ result: unknown[] }>('query', { query: expr, time: String(at) });
      return result.length;
    },
    selectors: async (expr) => selectorsIn(await ask<Node>('parse_query', { query: expr })),
    async stop() {
      const ended = once(child, 'exit');
      child.kill();
      await ended;
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

function program(name: 'prometheus' | 'promtool'): string {
  if ('missing' in found) throw new Error(found.missing);
  return path.join(found.dir, name);
}

/** All samples with their timestamp, and the labels that Prometheus adds to scraped samples. */
function openMetrics(scrapes: readonly Scrape[]): string {
  const lines = scrapes
    .toSorted((a, b) => a.at - b.at)
    .flatMap(({ instance, at, text }) =>
      text
        .split('\n')
        .filter((line) => line !== '' && !line.startsWith('#'))
        .map((line) => {
          const [, name, , labels = '', value] = /^([^{ ]+)(\{(.*)\})? (\S+)$/.exec(line)!;
          const all = [labels, 'job="offshoot"', `instance="${instance}"`].filter((each) => each !== '');
          return `${name}{${all.join(',')}} ${value} ${at}`;
        }),
    );
  return `${lines.join('\n')}\n# EOF\n`;
}

/** A node of a parsed query. */
interface Node {
  readonly type?: string;
  readonly name?: string;
  readonly matchers?: readonly { readonly name: string }[];
  readonly grouping?: readonly string[];
  /** A binary operator and its operands. */
  readonly op?: string;
  readonly lhs?: Node;
  readonly rhs?: Node;
}

/** The metrics that a query reads; grouping labels count for all selectors inside. */
function selectorsIn(node: unknown, grouping: readonly string[] = []): readonly Selector[] {
  if (node === null || typeof node !== 'object') return [];
  const { type, op, name = '', matchers = [], grouping: own = [], lhs, rhs } = node as Node;
  // The right side of `and` only filters the left side.
  if (op === 'and') return [...selectorsIn(lhs, grouping), ...selectorsIn(rhs)];
  if (type === 'vectorSelector' || type === 'matrixSelector') {
    const labels = matchers.map((matcher) => matcher.name).filter((label) => label !== '__name__');
    return [{ name, labels: [...labels, ...grouping] }];
  }
  return Object.values(node).flatMap((each) => selectorsIn(each, [...grouping, ...own]));
}
