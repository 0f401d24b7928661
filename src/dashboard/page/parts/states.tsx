// Placeholders for screens without data: empty, loading, missing, failed.
import type { ComponentChildren, JSX } from 'preact';
import type { Problem } from '../../data.ts';
import { Marked, Sentence } from './text.tsx';

/** Says that there is nothing yet, and what to do next. */
export function Empty({
  title,
  children,
}: {
  readonly title: string;
  readonly children?: ComponentChildren;
}): JSX.Element {
  return (
    <div class="empty">
      <svg viewBox="0 0 64 48" aria-hidden="true">
        <path d="M12 40V8m0 24c0-14 8-18 28-18" />
        <circle cx="46" cy="14" r="6" />
      </svg>
      <p>
        <Marked text={title} />
      </p>
      {children}
    </div>
  );
}

/** A placeholder while data is loading. */
export function Loading({ rows = 4 }: { readonly rows?: number }): JSX.Element {
  return (
    <div class="loading" role="status" aria-label="Loading">
      {Array.from({ length: rows }, (_, i) => (
        <div key={i} class="bone" />
      ))}
    </div>
  );
}

/** What went wrong, and what to do. */
export function ProblemBox({ problem }: { readonly problem: Problem }): JSX.Element {
  // Further lines quote the source, and need a fixed-width font.
  const [error, ...lines] = problem.error.split('\n');
  return (
    <div class="problem" role="alert">
      <strong class="first-capital">{error}</strong>
      {lines.length > 0 && <pre>{lines.join('\n').replace(/^\n+|\s+$/g, '')}</pre>}
      {problem.refusal !== undefined && <pre>{problem.refusal}</pre>}
      {problem.hint !== undefined && <p>{problem.hint}</p>}
    </div>
  );
}

/** A screen whose object does not exist or can't be loaded. */
export function Missing({
  what,
  problem,
}: {
  readonly what: string;
  readonly problem: string | undefined;
}): JSX.Element {
  if (problem !== undefined) return <ProblemBox problem={{ error: problem, hint: 'It is retried automatically.' }} />;
  return (
    <>
      <Sentence text={`There is no ${what}.`} />
      <Empty title="It may have been deleted, or be in another namespace." />
    </>
  );
}
