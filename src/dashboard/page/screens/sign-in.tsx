// Signing in: a token of the cluster, sent once. The server sets a cookie that this script can't read.
import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Problem } from '../../data.ts';
import { ask, problemOf } from '../live/ask.ts';
import { store } from '../live/store.ts';
import { ProblemBox } from '../parts/states.tsx';
import { Copy, Sentence } from '../parts/text.tsx';

/** The server's message before the first sign-in; it is not shown. */
const NOBODY = 'nobody has signed in';

/** The sign-in form; `reason` says why it is shown. */
export function SignIn({ reason }: { readonly reason: string }): JSX.Element {
  const [problem, setProblem] = useState<Problem | undefined>(undefined);
  const [isAsking, setAsking] = useState(false);
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => field.current?.focus(), []);
  const submit = (event: Event): void => {
    event.preventDefault();
    const token = field.current?.value.trim() ?? '';
    if (token === '') return;
    setAsking(true);
    ask('POST', '/api/session', { token })
      .then(
        () => store.signedIn(),
        (error: unknown) => {
          setProblem(problemOf(error));
          field.current?.select();
        },
      )
      .finally(() => setAsking(false));
  };
  return (
    <div class="sign-in">
      <Sentence text="Sign in with a token of the cluster: you see what it is allowed to read." />
      {problem === undefined ? (
        reason !== NOBODY && (
          <p role="status" class="muted first-capital">
            {reason}
          </p>
        )
      ) : (
        <ProblemBox problem={problem} />
      )}
      <form class="card" onSubmit={submit} aria-label="Sign in">
        <label>
          Token
          <input ref={field} type="password" name="token" required autocomplete="off" spellcheck={false} />
        </label>
        <button type="submit" class="button primary" disabled={isAsking}>
          {isAsking ? 'Signing in…' : 'Sign in'}
        </button>
      </form>
      <section class="card">
        <h2>How to get a token</h2>
        <p>For a service account, which sees what its roles allow:</p>
        <Copy text="kubectl create token NAME -n NAMESPACE --duration 8h" label="command" />
        <p>If people sign in to the cluster with OIDC, use the ID token that kubectl uses.</p>
        <p class="muted">It is sent once, and kept in a cookie that scripts can't read until you sign out.</p>
      </section>
    </div>
  );
}
