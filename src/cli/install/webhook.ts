// The Service and registrations of the admission webhook and, with cert-manager, its certificate.
import type { AnyObject } from '../../kube/objects.ts';
import type { PartData } from './chart-data.ts';
import { NAME, SELECTOR } from './installation.ts';
import type { Installation } from './installation.ts';

const WEBHOOK = 'offshoot-webhook';

/** The webhook objects of the parts that have a webhook. */
export function webhookObjects(parts: readonly PartData[], { values, namespace }: Installation): AnyObject[] {
  if (parts.length === 0) return [];
  const { certManager } = values.webhook;
  const annotations = { 'cert-manager.io/inject-ca-from': `${namespace}/${WEBHOOK}` };
  const service = {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: WEBHOOK, namespace },
    spec: { selector: SELECTOR, ports: [{ name: 'https', port: 443, targetPort: 'webhook' }] },
  };
  // The controllers fill these in (--webhook-registration existing). They are deleted with the installation, so that
  // no write is rejected when the webhook is gone.
  const registrations = parts.map(({ webhook }) => ({
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingWebhookConfiguration',
    metadata: { name: webhook!, ...(certManager && { annotations }) },
  }));
  return [service, ...registrations, ...(certManager ? certificate(namespace) : [])];
}

function certificate(namespace: string): AnyObject[] {
  const apiVersion = 'cert-manager.io/v1';
  const metadata = { name: WEBHOOK, namespace };
  const dnsNames = [`${WEBHOOK}.${namespace}.svc`, `${WEBHOOK}.${namespace}.svc.cluster.local`];
  const issuerRef = { kind: 'Issuer', name: WEBHOOK };
  return [
    { apiVersion, kind: 'Issuer', metadata, spec: { selfSigned: {} } },
    { apiVersion, kind: 'Certificate', metadata, spec: { secretName: `${NAME}-webhook-cert`, dnsNames, issuerRef } },
  ];
}
