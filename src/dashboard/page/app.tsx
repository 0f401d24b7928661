// The frame of every screen: navigation, connection state, theme and keys.
import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { KEYS, listenToKeys } from './keys.ts';
import { useLive, useNow } from './live/hooks.ts';
import { store } from './live/store.ts';
import { ask } from './live/ask.ts';
import { Empty } from './parts/states.tsx';
import { Sentence, span } from './parts/text.tsx';
import { Link, useLocation } from './router.tsx';
import { Environment } from './screens/environment.tsx';
import { Claims, OtherObject, Rules } from './screens/lists.tsx';
import { Mesh } from './screens/mesh.tsx';
import { Overview } from './screens/overview.tsx';
import { Plan } from './screens/plan.tsx';
import { SignIn } from './screens/sign-in.tsx';
import { Try } from './screens/try.tsx';
import { chooseTheme, currentTheme } from './theme.ts';
import type { Theme } from './theme.ts';

const NAVIGATION: readonly (readonly [path: string, label: string])[] = [
  ['/', 'Environments'],
  ['/try', 'Try a request'],
  ['/plan', 'Plan'],
  ['/claims', 'Claims'],
  ['/mesh', 'Mesh'],
  ['/rules', 'Rules'],
];

export function App(): JSX.Element {
  const { path } = useLocation();
  const { signedOut } = useLive();
  const [isHelping, help] = useState(false);
  useEffect(() => store.start(), []);
  useEffect(() => listenToKeys(help), []);
  useEffect(() => {
    document.title = titleOf(path);
  }, [path]);
  return (
    <>
      <a href="#main" class="skip">
        Skip to content
      </a>
      <header>
        <Link to="/" class="brand">
          <img src="/icon.svg" alt="" width={24} height={24} /> Offshoot
        </Link>
        {signedOut === undefined && (
          <nav aria-label="Screens">
            {NAVIGATION.map(([to, label]) => (
              <Link key={to} to={to} {...(isIn(path, to) && { 'aria-current': 'page' as const })}>
                {label}
              </Link>
            ))}
          </nav>
        )}
        <div class="tools">
          <User />
          <ThemeSwitch />
          <button type="button" class="icon" aria-label="Keys" title="Keys (?)" onClick={() => help(true)}>
            ?
          </button>
        </div>
      </header>
      <Connection />
      <main id="main">{signedOut === undefined ? <Screen path={path} /> : <SignIn reason={signedOut} />}</main>
      {isHelping && <Help close={() => help(false)} />}
    </>
  );
}

function isIn(path: string, to: string): boolean {
  if (to === '/') return path === '/' || path.startsWith('/environments');
  return path.startsWith(to) || (to === '/claims' && path.startsWith('/targets'));
}

function titleOf(path: string): string {
  const [, first = '', , name] = path.split('/');
  if (name !== undefined) return `${decodeURIComponent(name)} – Offshoot`;
  return first === '' ? 'Offshoot' : `${first[0]!.toUpperCase()}${first.slice(1)} – Offshoot`;
}

function Screen({ path }: { readonly path: string }): JSX.Element {
  const [, first = '', namespace, name] = path.split('/').map(decodeURIComponent);
  if (namespace !== undefined && name !== undefined) {
    if (first === 'environments') return <Environment key={path} namespace={namespace} name={name} />;
    if (first === 'claims' || first === 'targets' || first === 'rules') {
      const type = first.slice(0, -1) as 'claim' | 'target' | 'rule';
      return <OtherObject key={path} type={type} namespace={namespace} name={name} />;
    }
  }
  switch (first) {
    case '':
    case 'environments':
      return <Overview />;
    case 'try':
      return <Try />;
    case 'plan':
      return <Plan />;
    case 'claims':
      return <Claims />;
    case 'mesh':
      return <Mesh />;
    case 'rules':
      return <Rules />;
    default:
      return (
        <>
          <Sentence text={`There is nothing at \`${path}\`.`} />
          <Empty title="The link may be from another version of this page.">
            <Link to="/" class="button">
              Go to the environments
            </Link>
          </Empty>
        </>
      );
  }
}

/** The signed-in user, and the button to sign out. */
function User(): JSX.Element | null {
  const { session } = useLive();
  if (session?.user === undefined) return null;
  const signOut = (): void => {
    ask('DELETE', '/api/session').then(
      () => store.signOutEverywhere(),
      () => {},
    );
  };
  return (
    <>
      <span class="user" title={session.user}>
        {session.user.split(':').at(-1)}
      </span>
      {session.until !== undefined && (
        <button type="button" class="button" title={`Signed in as ${session.user}`} onClick={signOut}>
          Sign out
        </button>
      )}
    </>
  );
}

/** Says since when the connection is lost, and marks the data as stale. */
function Connection(): JSX.Element {
  const { lost } = useLive();
  const now = useNow();
  useEffect(() => {
    document.body.classList.toggle('old', lost !== undefined);
  }, [lost !== undefined]);
  return (
    <div role="status">
      {lost !== undefined && (
        <p class="lost">
          Not connected for {span(Math.max(0, now - lost.since))}: {lost.problem}. The data is that old; the page
          reconnects automatically.
        </p>
      )}
    </div>
  );
}

const NEXT: Readonly<Record<Theme, Theme>> = { system: 'light', light: 'dark', dark: 'system' };
const SIGN: Readonly<Record<Theme, string>> = { system: '◐', light: '☀', dark: '☾' };

function ThemeSwitch(): JSX.Element {
  const [theme, set] = useState(currentTheme);
  const next = (): void => {
    chooseTheme(NEXT[theme]);
    set(NEXT[theme]);
  };
  return (
    <button type="button" class="icon" aria-label={`Theme: ${theme}`} title={`Theme: ${theme}`} onClick={next}>
      {SIGN[theme]}
    </button>
  );
}

function Help({ close }: { readonly close: () => void }): JSX.Element {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog ref={dialog} onClose={close} aria-label="Keys">
      <h2>Keys</h2>
      <dl class="keys">
        {KEYS.map(([keys, what]) => (
          <div key={keys}>
            <dt>
              {keys.split(' ').map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
      <button type="button" class="button" onClick={() => dialog.current?.close()}>
        Close
      </button>
    </dialog>
  );
}
