// The Service of the dashboard, for an ingress or `kubectl port-forward`, and its flags and certificate.
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

/** The volume and mount of the dashboard's certificate, if there is one. */
export function dashboardCertificate({ dashboard: { enabled, tlsSecret } }: Values) {
  const hasCertificate = enabled && tlsSecret !== '';
  const name = 'dashboard-certificates';
  return {
    mounts: hasCertificate ? [{ name, mountPath: CERTIFICATES, readOnly: true }] : [],
    volumes: hasCertificate ? [{ name, secret: { secretName: tlsSecret } }] : [],
  };
}
