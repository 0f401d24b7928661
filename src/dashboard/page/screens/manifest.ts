// The manifest that the fields of the form stand for. Pure.

export interface FormFields {
  readonly name: string;
  /** `NAMESPACE/NAME` */
  readonly workload: string;
  readonly container: string;
  readonly image: string;
  /** The name of the environment where nothing is given. */
  readonly key: string;
}

/** A manifest; empty until there is enough for one. */
export function manifestOf({ name, workload, container, image, key }: FormFields): string {
  const [namespace = '', deployment = ''] = workload.split('/');
  if (name === '' || deployment === '' || image === '') return '';
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
