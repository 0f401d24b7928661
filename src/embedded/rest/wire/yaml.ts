// Parses YAML as kubectl does (YAML 1.1 booleans and octals, no timestamps). Loaded only when YAML arrives.
//
// Parsing YAML takes a hundred times as long as JSON. So large documents are parsed in a worker thread, one after the
// other, while this thread serves requests. The worker runs this module too.
import { parentPort, Worker, workerData } from 'node:worker_threads';
import { isScalar, parseDocument, visit } from 'yaml';
import type { Tags, YAMLMap } from 'yaml';
import { parseJson } from '../../../kube/json.ts';

/** Texts of at least this length are parsed in a worker. */
const LARGE = 32 * 1024;
const TIME_LIMIT_MS = 10_000;
const THREAD_MEMORY_MB = 256;

/** Distinguishes the worker started here from a worker that runs the whole server. */
const TASK = 'offshoot: read YAML';

type Task = readonly [typeof TASK, text: string];
type Answer = { readonly json: string } | { readonly problem: string };

/** The last parse in a worker. */
let reading: Promise<unknown> = Promise.resolve();

/** Parses one YAML document into plain JSON. Throws or rejects if it is invalid. */
export function readYaml(text: string): unknown {
  if (text.length < LARGE) return parseYaml(text);
  const mine = reading.then(() => parseInWorker(text));
  reading = mine.catch(() => undefined);
  return mine;
}

async function parseInWorker(text: string): Promise<unknown> {
  const worker = new Worker(new URL(import.meta.url), {
    workerData: [TASK, text] satisfies Task,
    resourceLimits: { maxOldGenerationSizeMb: THREAD_MEMORY_MB },
  });
  const { promise, resolve, reject } = Promise.withResolvers<Answer>();
  worker.once('message', resolve).once('error', reject);
  const late = setTimeout(
    () => reject(new Error(`reading it takes more than ${TIME_LIMIT_MS / 1000} s`)),
    TIME_LIMIT_MS,
  );
  try {
    const answer = await promise;
    if ('problem' in answer) throw new Error(answer.problem);
    return parseJson(answer.json);
  } finally {
    clearTimeout(late);
    void worker.terminate();
  }
}

function answerTo([, text]: Task): Answer {
  try {
    return { json: JSON.stringify(parseYaml(text)) };
  } catch (error) {
    return { problem: (error as Error).message };
  }
}

const goOctal = {
  identify: (value: unknown) => typeof value === 'number',
  default: true,
  tag: 'tag:yaml.org,2002:int',
  format: 'OCT12',
  test: /^0o[0-7_]+$/,
  resolve: (text: string) => parseInt(text.slice(2).replaceAll('_', ''), 8),
};

function parseYaml(text: string): unknown {
  const document = parseDocument(text, {
    version: '1.1',
    merge: true,
    intAsBigInt: false,
    // The package compares all pairs of keys, which takes minutes for a large map.
    uniqueKeys: false,
    // Warnings would go to the log of this process, where the sender does not see them.
    logLevel: 'error',
    customTags: (tags: Tags): Tags => [
      goOctal,
      ...tags.filter(
        (tag) =>
          typeof tag === 'string' || (!/timestamp|binary|omap|pairs|set$/.test(tag.tag ?? '') && !isSexagesimal(tag)),
      ),
    ],
  });
  if (document.errors[0] !== undefined) throw document.errors[0];
  visit(document, { Map: (_key, map) => refuseRepeatedKeys(map) });
  return document.toJS();
}

function isSexagesimal(tag: object): boolean {
  return 'format' in tag && tag.format === 'TIME';
}

function refuseRepeatedKeys({ items }: YAMLMap): void {
  const keys = new Set<unknown>();
  for (const { key } of items) {
    const name = isScalar(key) ? key.value : key;
    // Merge keys may repeat.
    if (name === '<<') continue;
    if (keys.has(name)) throw new Error(`Map keys must be unique, and "${String(name)}" is there twice`);
    keys.add(name);
  }
}

if (Array.isArray(workerData) && workerData[0] === TASK)
  parentPort!.postMessage(answerTo(workerData as unknown as Task), []);
