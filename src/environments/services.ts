// Which services lead to a workload.
import type { Deployment, Service } from './objects.ts';

/** The services that select the pods of a Deployment, by name in byte order. One without a selector selects nothing. */
export function servicesOf(base: Deployment, services: readonly Service[]): readonly Service[] {
  const labels = base.spec.template.metadata?.labels ?? {};
  return services
    .filter((service) => selects(service, labels))
    .sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
}

/** Whether a service selects pods with these labels. */
export function selects(service: Service, labels: Readonly<Record<string, string>>): boolean {
  const selector = Object.entries(service.spec?.selector ?? {});
  return selector.length > 0 && selector.every(([key, value]) => labels[key] === value);
}
