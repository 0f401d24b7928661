// Every view has a URL that can be shared.
import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';

export interface PageLocation {
  readonly path: string;
  readonly query: URLSearchParams;
}

const listeners = new Set<() => void>();

function currentLocation(): PageLocation {
  return { path: location.pathname, query: new URLSearchParams(location.search) };
}

/** Navigates to an address of this page. */
export function go(address: string, { replace = false } = {}): void {
  if (address === location.pathname + location.search) return;
  if (replace) history.replaceState(null, '', address);
  else {
    history.pushState(null, '', address);
    scrollTo(0, 0);
  }
  for (const listener of listeners) listener();
}

/** The current location; renders again when it changes. */
export function useLocation(): PageLocation {
  const [current, set] = useState(currentLocation);
  useEffect(() => {
    const changed = (): void => set(currentLocation());
    listeners.add(changed);
    addEventListener('popstate', changed);
    return () => {
      listeners.delete(changed);
      removeEventListener('popstate', changed);
    };
  }, []);
  return current;
}

interface LinkProps {
  readonly to: string;
  readonly children: ComponentChildren;
  readonly class?: string;
  readonly 'data-step'?: boolean;
  readonly 'aria-current'?: 'page';
}

/**
 * A link to another view of the page. With a modifier key, the browser handles the click: in a new tab, for example.
 */
export function Link({ to, children, ...rest }: LinkProps): JSX.Element {
  const follow = (event: MouseEvent): void => {
    if (event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    go(to);
  };
  return (
    <a href={to} onClick={follow} {...rest}>
      {children}
    </a>
  );
}

/** The address of an object. */
export function addressOf(type: string, namespace: string, name: string): string {
  const folder = type === 'istio' ? 'mesh' : `${type}s`;
  return type === 'istio' ? '/mesh' : `/${folder}/${encodeURIComponent(namespace)}/${encodeURIComponent(name)}`;
}
