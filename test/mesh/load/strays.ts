// Whether requests reached what they should have: flows are called `<key or plain> <workload>`, and images
// `<workload>:<version>`, of which the base has 1, an environment 2 and, once it was updated, 3.
import type { Report } from './sender.ts';

/** Images that must not have answered: none but the base's without the key, and with it none but the environment's. */
export function strays({ images }: Report): string[] {
  return Object.entries(images).flatMap(([flow, phases]) => {
    const [key, base] = flow.split(' ') as [string, string];
    const allowed: Readonly<Record<string, readonly number[]>> =
      key === 'plain' ? { create: [1], update: [1], delete: [1] } : { create: [1, 2], update: [2, 3], delete: [3, 1] };
    return Object.entries(phases).flatMap(([phase, counts]) =>
      Object.entries(counts)
        .filter(([image]) => !(allowed[phase] ?? []).some((version) => image === `${base}:${version}`))
        .map(([image, count]) => `${count} × ${flow} reached ${image} during ${phase}`),
    );
  });
}
