// Plan: an environment as a form or as YAML on one side; on the other what it would change, before anything is created.
import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { ReportedChange } from '../../../controller/index.ts';
import type { Choices, PlanAnswer, Problem } from '../../data.ts';
import { ask, problemOf } from '../live/ask.ts';
import { useLive } from '../live/hooks.ts';
import { Empty, ProblemBox } from '../parts/states.tsx';
import { Commands, Marked, Sentence, StateMark } from '../parts/text.tsx';
import { addressOf, go, Link } from '../router.tsx';
import { manifestOf, missingIn } from './manifest.ts';
import { tryAddress } from './try-address.ts';
import { useChoices } from './try.tsx';

/** The pause after the last keystroke before a plan is requested. */
const PAUSE_MS = 400;

export function Plan(): JSX.Element {
  const choices = useChoices();
  const { session } = useLive();
  const [yaml, setYaml] = useState('');
  const [plan, setPlan] = useState<PlanAnswer | undefined>(undefined);
  const [problem, setProblem] = useState<Problem | undefined>(undefined);
  const planned = useRef('');
  useEffect(() => {
    planned.current = yaml;
    if (yaml.trim() === '') {
      setPlan(undefined);
      setProblem(undefined);
      return;
    }
    const timer = setTimeout(() => {
      // Ignore an answer to outdated text.
      const isCurrent = (): boolean => planned.current === yaml;
      const show = (answer: PlanAnswer | undefined, wrong: Problem | undefined): void => {
        if (!isCurrent()) return;
        setPlan(answer);
        setProblem(wrong);
      };
      ask<PlanAnswer>('POST', '/api/plan', { yaml }).then(
        (answer) => show(answer, undefined),
        (error: unknown) => show(undefined, problemOf(error)),
      );
    }, PAUSE_MS);
    return () => clearTimeout(timer);
  }, [yaml]);
  return (
    <>
      <Sentence text={plan?.sentence ?? 'What would an environment change? Nothing is created before you confirm.'} />
      <div class="side-by-side">
        <div>
          <Form choices={choices} keyHeader={session?.keyHeader ?? 'x-env'} use={setYaml} />
          <label class="card yaml-field">
            YAML
            <textarea
              data-find
              rows={18}
              spellcheck={false}
              value={yaml}
              onInput={(event) => setYaml((event.target as HTMLTextAreaElement).value)}
              placeholder="Paste the manifest of a DynamicEnv, or fill in the form."
            />
          </label>
        </div>
        <div aria-live="polite">
          {problem !== undefined && <ProblemBox problem={problem} />}
          {plan === undefined && problem === undefined && (
            <Empty title="What it creates, changes and reroutes will appear here." />
          )}
          {plan !== undefined && <Planned plan={plan} yaml={yaml} mayWrite={session?.writes === true} />}
        </div>
      </div>
    </>
  );
}

interface FormProps {
  readonly choices: Choices;
  readonly keyHeader: string;
  readonly use: (yaml: string) => void;
}

function Form({ choices, keyHeader, use }: FormProps): JSX.Element {
  const [fields, setFields] = useState({ name: '', workload: '', image: '', key: '' });
  const change = (event: Event): void => {
    const { name, value } = event.target as HTMLInputElement;
    const next = { ...fields, [name]: value };
    setFields(next);
    const container = choices.workloads.find(({ key }) => key === next.workload)?.containers[0];
    use(manifestOf({ ...next, container: container ?? '' }));
  };
  const missing = missingIn(
    fields,
    choices.workloads.map(({ key }) => key),
  );
  const field = (name: keyof typeof fields, label: string, placeholder: string, list?: string): JSX.Element => (
    <label>
      {label}
      <input
        type="text"
        name={name}
        value={fields[name]}
        placeholder={placeholder}
        autocomplete="off"
        spellcheck={false}
        list={list ?? ''}
        aria-describedby={`missing-${name}`}
      />
      <small id={`missing-${name}`} class="missing" role="status">
        {missing?.field === name ? missing.text : ''}
      </small>
    </label>
  );
  return (
    <form class="card form" onInput={change} onSubmit={(event) => event.preventDefault()} aria-label="Environment">
      {field('name', 'Name', 'pr-9')}
      {field('workload', 'Deployment', 'shop/reviews', 'workloads')}
      {field('image', 'Image', 'reviews:2')}
      {field('key', `Key, in the header ${keyHeader}`, fields.name === '' ? 'pr-9' : fields.name)}
      <datalist id="workloads">
        {choices.workloads.map(({ key }) => (
          <option key={key} value={key} />
        ))}
      </datalist>
    </form>
  );
}

interface PlannedProps {
  readonly plan: PlanAnswer;
  readonly yaml: string;
  readonly mayWrite: boolean;
}

function Planned({ plan, yaml, mayWrite }: PlannedProps): JSX.Element {
  const [problem, setProblem] = useState<Problem | undefined>(undefined);
  const create = (): void => {
    ask<{ readonly namespace: string; readonly name: string }>('POST', '/api/environments', { yaml }).then(
      ({ namespace, name }) => go(addressOf('environment', namespace, name)),
      (error: unknown) => setProblem(problemOf(error)),
    );
  };
  const { proof } = plan;
  return (
    <>
      {problem !== undefined && <ProblemBox problem={problem} />}
      {mayWrite && (
        <p>
          <button type="button" class={`button ${plan.tone === 'good' ? 'primary' : ''}`} onClick={create}>
            {plan.tone === 'good' ? 'Create it' : 'Create it anyway'}
          </button>
        </p>
      )}
      <section class="card">
        <h2>Traffic</h2>
        <ul class="plain">
          {plan.traffic.map((line) => (
            <li key={line}>
              <Marked text={line} />
            </li>
          ))}
        </ul>
      </section>
      {proof !== undefined && (
        <section class="card">
          <h2>Proof</h2>
          <StateMark
            tone={proof.verdict === 'True' ? 'good' : proof.verdict === 'False' ? 'bad' : 'busy'}
            state={proof.word}
          />
          <p>{proof.message}</p>
          {proof.counterexample !== undefined && (
            <Link to={tryAddress(proof.counterexample)} class="button">
              Try the counterexample
            </Link>
          )}
          <ul class="plain muted">
            {proof.notes.map((note) => (
              <li key={note}>{note}</li>
            ))}
          </ul>
        </section>
      )}
      <section class="card">
        <h2>Objects</h2>
        {plan.changes.map((change) => (
          <Change key={`${change.kind} ${change.namespace} ${change.name}`} change={change} />
        ))}
        {plan.stalled.map(({ kind, object, message }) => (
          <p key={`${kind} ${object}`} class="reason">
            {kind} {object}: {message}
          </p>
        ))}
      </section>
      <Commands lines={plan.commands} first={`Save the YAML as \`${plan.file}\` first.`} />
    </>
  );
}

const SIGNS = { make: '+', change: '~', remove: '−', replace: '±' } as const;

/** An object that is created or changed, with each field before and after. */
function Change({ change }: { readonly change: ReportedChange }): JSX.Element {
  const { do: verb, kind, namespace, name, object, fields = [] } = change;
  return (
    <details class={`change ${verb}`} open={verb !== 'make'}>
      <summary>
        <span class="sign" aria-hidden="true">
          {SIGNS[verb]}
        </span>{' '}
        {verb} <strong>{kind}</strong> {namespace === undefined ? name : `${namespace}/${name}`}
      </summary>
      {object !== undefined && (
        <pre tabIndex={0} role="group" aria-label={`${kind} ${name}`}>
          {JSON.stringify(object, null, 2)}
        </pre>
      )}
      {fields.length > 0 && (
        <table class="diff">
          <thead>
            <tr>
              <th scope="col">field</th>
              <th scope="col">before</th>
              <th scope="col">after</th>
            </tr>
          </thead>
          <tbody>
            {fields.map(({ path, before, after, text }) => (
              <tr key={path}>
                <td>
                  <code>{path}</code>
                </td>
                <td class="before">{valueText(text?.before ?? before)}</td>
                <td class="after">{valueText(text?.after ?? after)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </details>
  );
}

function valueText(value: unknown): string {
  if (value === undefined) return '–';
  return typeof value === 'string' ? value : JSON.stringify(value);
}
