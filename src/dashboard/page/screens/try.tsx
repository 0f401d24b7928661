// Try a request: an address bar, the path of the request, and rule by rule why it takes that path.
import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { Choices, Hop, Problem, Tried, TriedRequest } from '../../data.ts';
import { ask, problemOf } from '../live/ask.ts';
import { useLive } from '../live/hooks.ts';
import { Empty, Loading, ProblemBox } from '../parts/states.tsx';
import { Commands, Sentence } from '../parts/text.tsx';
import { TrafficPicture } from '../picture/picture.tsx';
import { go, useLocation } from '../router.tsx';
import { headersIn, triedIn, tryAddress } from './try-address.ts';

const NOTHING: Choices = { namespaces: [], workloads: [], gateways: [], urls: [] };

/** The choices of the form. */
export function useChoices(): Choices {
  const [choices, set] = useState(NOTHING);
  useEffect(() => {
    ask<Choices>('GET', '/api/choices').then(set, () => {});
  }, []);
  return choices;
}

export function Try(): JSX.Element {
  const { query } = useLocation();
  const queryText = query.toString();
  const [answer, setAnswer] = useState<Tried | undefined>(undefined);
  const [problem, setProblem] = useState<Problem | undefined>(undefined);
  const [run, setRun] = useState(0);
  const choices = useChoices();
  const tryIt = (): void => {
    const request = triedIn(new URLSearchParams(queryText));
    if (request === undefined) return;
    setProblem(undefined);
    const show = (found: Tried | undefined, wrong: Problem | undefined): void => {
      setAnswer(found);
      setProblem(wrong);
      if (found !== undefined) setRun((before) => before + 1);
    };
    ask<Tried>('POST', '/api/try', request).then(
      (found) => show(found, undefined),
      (error: unknown) => show(undefined, problemOf(error)),
    );
  };
  useEffect(tryIt, [queryText]);
  const request = triedIn(query);
  return (
    <>
      <Sentence text={answer?.sentence ?? 'Which version would a request reach, and why?'} />
      <Bar key={queryText} request={request} choices={choices} again={tryIt} />
      {problem !== undefined && <ProblemBox problem={problem} />}
      {request === undefined && (
        <Empty title="Nothing is sent: the request is evaluated against the current rules. Enter a URL and press Enter." />
      )}
      {request !== undefined && answer === undefined && problem === undefined && <Loading rows={3} />}
      {answer !== undefined && (
        <>
          <TrafficPicture picture={answer.picture} legend="this request, and the calls that follow" run={run} />
          {answer.hops.map((hop, i) => (
            <Explained key={`${i} ${hop.title}`} hop={hop} isOpen={i === 0} />
          ))}
          <Commands lines={[answer.command]} />
        </>
      )}
    </>
  );
}

function originOf(text: string): Pick<TriedRequest, 'from' | 'gateway'> {
  if (text.startsWith('gateway ')) return { gateway: text.slice('gateway '.length) };
  if (text.startsWith('{')) return { from: JSON.parse(text) as object as TriedRequest['from'] & object };
  return text === '' ? {} : { from: text };
}

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS'];

interface BarProps {
  readonly request: TriedRequest | undefined;
  readonly choices: Choices;
  readonly again: () => void;
}

function Bar({ request, choices, again }: BarProps): JSX.Element {
  const { session } = useLive();
  const origin = request?.gateway === undefined ? fromText(request) : `gateway ${request.gateway}`;
  const headers = Object.entries(request?.headers ?? {}).flatMap(([name, value]) =>
    [value].flat().map((each) => `${name}: ${each}`),
  );
  const submit = (event: Event): void => {
    event.preventDefault();
    const data = new FormData(event.target as HTMLFormElement);
    const text = (name: string): string => ((data.get(name) ?? '') as string).trim();
    const from = text('origin');
    const address = tryAddress({
      method: text('method'),
      url: text('url'),
      headers: headersIn(text('headers')),
      ...originOf(from),
    });
    if (address === location.pathname + location.search) again();
    else go(address);
  };
  return (
    <form class="bar card" onSubmit={submit} aria-label="Request">
      <div class="address">
        <select name="method" aria-label="Method">
          {METHODS.map((method) => (
            <option key={method} selected={method === (request?.method ?? 'GET')}>
              {method}
            </option>
          ))}
        </select>
        <input
          name="url"
          data-find
          required
          list="urls"
          value={request?.url ?? ''}
          placeholder="http://reviews.shop:9080/"
          aria-label="URL"
          autocomplete="off"
          spellcheck={false}
        />
        <button type="submit" class="button primary">
          Try
        </button>
      </div>
      <datalist id="urls">
        {choices.urls.map((url) => (
          <option key={url} value={url} />
        ))}
      </datalist>
      <div class="two">
        <label>
          Headers, one per line
          <textarea
            name="headers"
            rows={2}
            placeholder={`${session?.keyHeader ?? 'x-env'}: pr-7`}
            spellcheck={false}
            value={headers.join('\n')}
          />
        </label>
        <label>
          From where
          <select name="origin">
            <option value="">any caller in the namespace of the service</option>
            {origin.startsWith('{') && (
              <option value={origin} selected>
                {origin}
              </option>
            )}
            {choices.gateways.map((key) => (
              <option key={key} value={`gateway ${key}`} selected={origin === `gateway ${key}`}>
                gateway {key}
              </option>
            ))}
            {choices.workloads.map(({ key }) => (
              <option key={key} value={key} selected={origin === key}>
                {key}
              </option>
            ))}
          </select>
        </label>
      </div>
    </form>
  );
}

/** The caller as a value of the select element. */
function fromText(request: TriedRequest | undefined): string {
  const { from = '' } = request ?? {};
  return typeof from === 'string' ? from : JSON.stringify(from);
}

/** One hop, rule by rule. */
function Explained({ hop, isOpen }: { readonly hop: Hop; readonly isOpen: boolean }): JSX.Element {
  return (
    <details class="card hop" open={isOpen}>
      <summary>
        {hop.title} <span class="muted">{hop.lines[0]}</span>
      </summary>
      <ol class="rules">
        {hop.considered.map(({ virtualService, route, matched, reason }, i) => (
          <li key={`${i} ${virtualService} ${route}`} class={matched ? 'matched' : ''}>
            <span class={`tag ${matched ? 'path' : 'base'}`}>{matched ? '✓ matched' : '✗ passed over'}</span>{' '}
            <code>{route}</code>{' '}
            <span class="muted">
              {virtualService === undefined ? 'of the Service itself' : `of VirtualService ${virtualService}`}
            </span>
            {reason !== undefined && <span class="note">{reason}</span>}
          </li>
        ))}
        {hop.considered.length === 0 && <li class="muted">No rule applies.</li>}
      </ol>
      <ul class="plain muted">
        {hop.lines.map((line) => (
          <li key={line}>{line}</li>
        ))}
      </ul>
    </details>
  );
}
