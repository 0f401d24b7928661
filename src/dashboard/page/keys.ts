// Keyboard shortcuts that work everywhere, except in text fields.
import { go } from './router.tsx';

export const KEYS: readonly (readonly [keys: string, what: string])[] = [
  ['/', 'find in the list'],
  ['g e', 'go to environments'],
  ['g t', 'go to try a request'],
  ['g p', 'go to plan'],
  ['g c', 'go to claims'],
  ['g m', 'go to the mesh'],
  ['g r', 'go to routing rules'],
  ['↑ ↓', 'walk a list, or the picture'],
  ['Enter', 'open'],
  ['Esc', 'close, or leave a field'],
  ['?', 'show these keys'],
];

const SCREENS: Readonly<Record<string, string>> = {
  e: '/',
  t: '/try',
  p: '/plan',
  c: '/claims',
  m: '/mesh',
  r: '/rules',
};

/** Listens to the keyboard; `help` opens and closes the list of keys. */
export function listenToKeys(help: (isOpen: boolean) => void): () => void {
  let prefixAt = -Infinity;
  const pressed = (event: KeyboardEvent): void => {
    if (event.metaKey || event.ctrlKey || event.altKey) return;
    const target = event.target as HTMLElement;
    const isTyping = target.closest('input, textarea, select') !== null;
    if (event.key === 'Escape') {
      help(false);
      if (isTyping) target.blur();
      return;
    }
    if (isTyping) return;
    const isAfterG = performance.now() - prefixAt < 1_500;
    prefixAt = -Infinity;
    const path = isAfterG ? SCREENS[event.key] : undefined;
    if (path !== undefined) go(path);
    else if (event.key === 'g') prefixAt = performance.now();
    else if (event.key === '?') help(true);
    else if (event.key === '/') find();
    else if (event.key === 'ArrowDown' || event.key === 'ArrowUp') walk(target, event.key === 'ArrowDown' ? 1 : -1);
    else return;
    event.preventDefault();
  };
  addEventListener('keydown', pressed);
  return () => removeEventListener('keydown', pressed);
}

function find(): void {
  const field = document.querySelector<HTMLInputElement>('[data-find]');
  field?.focus();
  field?.select();
}

/** Moves the focus between elements with `data-step`: from the focused one, or to the first. */
function walk(from: HTMLElement, by: 1 | -1): void {
  const area = from.closest('[data-walk]') ?? document.querySelector('main');
  const all = [...(area?.querySelectorAll<HTMLElement>('[data-step]') ?? [])];
  const at = all.indexOf(from.closest<HTMLElement>('[data-step]')!);
  const next = all[at < 0 ? 0 : Math.min(Math.max(at + by, 0), all.length - 1)];
  next?.focus();
  next?.scrollIntoView?.({ block: 'nearest' });
}
