// How people reach the dashboard: its Service. An ingress, or `kubectl port-forward`, leads there.
import type { AnyObject } from '../../kube/objects.ts';
import { NAME, SELECTOR } from './installation.ts';
import type { Installation } from './installation.ts';
import type { Values } from './values.ts';

const DASHBOARD = `${NAME}-dashboard`;
export const DASHBOARD_PORT = 7444;
const CERTIFICATES = '/dashboard-certificates';

export function dashboardObjects({ values, namespace }: Installation): AnyObject[] {
  const { enabled, tlsSecret } = values.dashboard;
  if (!enabled) return [];
  const port = tlsSecret === '' ? { name: 'http', port: 80 } : { name: 'https', port: 443 };
  const spec = { selector: SELECTOR, ports: [{ ...port, targetPort: 'dashboard' }] };
  return [{ apiVersion: 'v1', kind: 'Service', metadata: { name: DASHBOARD, namespace }, spec }];
}

/** The flags of `offshoot run`. */
export function dashboardArgs({ values: { dashboard }, namespace }: Installation): readonly string[] {
  const { enabled, hosts, writes, session, tlsSecret } = dashboard;
  if (!enabled) return [];
  return [
    '--dashboard',
    `--dashboard-host=${[`${DASHBOARD}.${namespace}.svc`, ...hosts].join(',')}`,
    ...(writes ? ['--dashboard-writes'] : []),
    `--dashboard-session=${session}`,
    ...(tlsSecret === '' ? [] : [`--dashboard-cert-dir=${CERTIFICATES}`]),
  ];
}

/** Where a pod has the certificate of the dashboard, if it has one. */
export function dashboardCertificate({ dashboard: { enabled, tlsSecret } }: Values) {
  const isThere = enabled && tlsSecret !== '';
  const name = 'dashboard-certificates';
  return {
    mounts: isThere ? [{ name, mountPath: CERTIFICATES, readOnly: true }] : [],
    volumes: isThere ? [{ name, secret: { secretName: tlsSecret } }] : [],
  };
}
