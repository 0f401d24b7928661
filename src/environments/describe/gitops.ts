// Ignore rules for deployers, so that they keep what environments write into VirtualServices that come from Git.
import { ROUTE_PREFIX } from '../../traffic/istio/inserted-routes.ts';
import { WATCH_ANNOTATION } from '../identity/ownership.ts';

type Deployer = 'argocd' | 'flux';

/** A piece of YAML, and where it belongs. */
interface IgnoreRule {
  readonly deployer: Deployer;
  readonly where: string;
  readonly yaml: string;
}

const ROUTES = `.spec.http[]? | select((.name // "") | startswith("${ROUTE_PREFIX}"))`;
const ANNOTATION = `.metadata.annotations."${WATCH_ANNOTATION}"`;

export const IGNORE_RULES: readonly IgnoreRule[] = [
  {
    deployer: 'argocd',
    where: 'Argo CD, in the Application',
    yaml: `spec:
  ignoreDifferences:
    - group: networking.istio.io
      kind: VirtualService
      jqPathExpressions:
        - ${ROUTES}
        - ${ANNOTATION}
`,
  },
  {
    deployer: 'argocd',
    where: 'Argo CD, for all Applications, in the ConfigMap argocd-cm',
    yaml: `data:
  resource.customizations.ignoreDifferences.networking.istio.io_VirtualService: |
    jqPathExpressions:
      - ${ROUTES}
      - ${ANNOTATION}
`,
  },
  {
    deployer: 'flux',
    where: 'Flux, where the routes in Git change rarely: in the VirtualService',
    yaml: `metadata:
  annotations:
    kustomize.toolkit.fluxcd.io/ssa: IfNotPresent
`,
  },
  {
    deployer: 'flux',
    where: 'Flux, or in a Kustomization that has .spec.ignore: routes in Git do not arrive then',
    yaml: `spec:
  ignore:
    - target: {group: networking.istio.io, kind: VirtualService}
      paths: [/spec/http]
`,
  },
  {
    deployer: 'flux',
    where: 'Flux, in a HelmRelease with drift detection',
    yaml: `spec:
  driftDetection:
    mode: enabled
    ignore:
      - target: {group: networking.istio.io, kind: VirtualService}
        paths: [/spec/http]
`,
  },
];

/** The rules for a deployer, or for all, as YAML documents with a comment each. */
export function ignoreRulesText(deployer?: Deployer): string {
  const rules = IGNORE_RULES.filter((each) => deployer === undefined || each.deployer === deployer);
  return rules.map(({ where, yaml }) => `# ${where}\n${yaml}`).join('---\n');
}
