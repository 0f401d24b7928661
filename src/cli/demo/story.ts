// The script of `offshoot demo`, as data: the texts and the commands.

/** A command of the story, with its expected exit code. */
export type Shown =
  | { readonly offshoot: readonly string[]; readonly code?: number }
  | { readonly curl: string | undefined }
  | { readonly cat: string };

export interface Chapter {
  readonly title: string;
  readonly shown: readonly Shown[];
}

/** A workload of a sample shop, and the image that replaces it. */
export interface Sample {
  readonly namespace: string;
  readonly workload: string;
  readonly image: string;
}

/** The header that leads to the environment. */
export const KEY_HEADER = 'x-env';
const KEY = 'pr-7';
/** The file with the manifest, in the working directory of the commands. */
export const MANIFEST = `${KEY}.yaml`;

/** The manifest of the environment that the story is about. */
export function manifestOf({ namespace, workload, image }: Sample): string {
  return `apiVersion: riskified.com/v1alpha1
kind: DynamicEnv
metadata: {name: ${KEY}, namespace: ${namespace}}
spec:
  key: ${KEY}
  subsets:
    - name: ${workload}
      namespace: ${namespace}
      containers: [{containerName: ${workload}, image: "${image}"}]
`;
}

export function storyOf({ namespace, workload, image }: Sample): readonly Chapter[] {
  const within = ['-n', namespace];
  const create = (name: string, base: string, ...rest: string[]): readonly string[] => {
    const subset = ['--subset', `${base}=${image}`];
    return ['env', 'create', name, ...within, ...subset, ...rest];
  };
  return [
    { title: `A shop of four services answers. This is what everybody gets.`, shown: [{ curl: undefined }] },
    {
      title: `An environment should replace ${workload} for requests with "${KEY_HEADER}: ${KEY}". What would it do?`,
      shown: [{ cat: MANIFEST }, { offshoot: ['env', 'plan', '-f', MANIFEST], code: 2 }],
    },
    { title: 'Create it.', shown: [{ offshoot: ['env', 'create', '-f', MANIFEST, '--wait'] }] },
    {
      title: `Requests with the key get ${image}; all others get what they got before.`,
      shown: [{ curl: KEY }, { curl: undefined }],
    },
    {
      title: 'Why does a request go there?',
      shown: [{ offshoot: ['explain', `http://${workload}:8080/`, ...within, '-H', `${KEY_HEADER}: ${KEY}`] }],
    },
    {
      title: 'Is everybody else unaffected? Proven, not sampled.',
      shown: [{ offshoot: ['prove', KEY, ...within] }],
    },
    {
      title: 'Problems are reported before anything is created, or as soon as they appear.',
      shown: [
        { offshoot: create('pr-8', `${workload}z`, '--key', 'pr-8'), code: 1 },
        { offshoot: create('pr-8', workload, '--key', KEY, '--wait'), code: 1 },
      ],
    },
    {
      title: 'Remove both: routes first, then the rest. Nothing is left.',
      shown: [{ offshoot: ['env', 'delete', KEY, 'pr-8', ...within] }, { curl: KEY }],
    },
  ];
}
