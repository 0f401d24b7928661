// The manifest that the fields of the form stand for. Pure.

export interface FormFields {
  readonly name: string;
  /** `NAMESPACE/NAME` */
  readonly workload: string;
  readonly container: string;
  readonly image: string;
  /** Defaults to the name of the environment. */
  readonly key: string;
}

/** The first field that is missing or incomplete. */
export function missingIn(
  fields: Omit<FormFields, 'container'>,
  workloads: readonly string[] = [],
): { readonly field: 'name' | 'workload' | 'image'; readonly text: string } | undefined {
  const { name, workload, image, key } = fields;
  // The form is still empty.
  if ([name, workload, image, key].every((field) => field === '')) return undefined;
  if (workload !== '' && !/^[^/]+\/[^/]+$/.test(workload)) {
    const close = workloads.find((each) => each.endsWith(`/${workload}`)) ?? `shop/${workload.replaceAll('/', '')}`;
    return { field: 'workload', text: `Write it with its namespace, such as ${close}.` };
  }
  if (name === '') return { field: 'name', text: 'Give it a name.' };
  if (workload === '') return { field: 'workload', text: 'Which Deployment should have another version?' };
  return image === '' ? { field: 'image', text: 'Which image should it run?' } : undefined;
}

/** The manifest; empty while required fields are missing. */
export function manifestOf({ name, workload, container, image, key }: FormFields): string {
  const [namespace = '', deployment = ''] = workload.split('/');
  if (name === '' || namespace === '' || deployment === '' || image === '') return '';
  const text = (part: string): string => (/^[a-z][\w-]*$/i.test(part) ? part : JSON.stringify(part));
  return `apiVersion: riskified.com/v1alpha1
kind: DynamicEnv
metadata:
  name: ${text(name)}
  namespace: ${text(namespace)}
spec:
  key: ${text(key === '' ? name : key)}
  subsets:
    - name: ${text(deployment)}
      namespace: ${text(namespace)}
      containers:
        - containerName: ${text(container === '' ? deployment : container)}
          image: ${JSON.stringify(image)}
`;
}
