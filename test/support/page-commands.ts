// How the commands of the pages are run on a cluster of "offshoot up", what each page expects, and which commands are
// not run, and why.
import type { CodeBlock } from './code-blocks.ts';

/** A line that is a command of a reader. */
const COMMAND = /^\s*(?:\$ )?(?:\w+=\S+ )*(?:offshoot|kubectl|helm|npm|npx|curl|node|go|docker|skopeo)\s/m;

/** Blocks of commands that are not marked "sh": the page, how the block begins, and why it is not run. */
const NOT_RUN_BLOCKS: readonly (readonly [page: string, beginning: string, why: string])[] = [
  ['docs/reference/commands.md', '', 'generated from the help: src/cli/examples.test.ts parses all examples'],
  [
    'docs/operations/install.md',
    'npm install\nnpm run image',
    'needs a registry: test/node/quick-start.test.ts runs it',
  ],
  ['docs/guide/dashboard.md', 'kubectl port-forward', 'needs a pod that answers: those of the embedded cluster do not'],
  ['docs/contributing/how-we-test.md', 'npm run real-cluster -- fetch', 'downloads and builds for minutes'],
  ['docs/contributing/how-we-test.md', 'node test/scenarios/run.ts', 'a form: NAME is to be replaced'],
  ['docs/contributing/how-we-test.md', 'npx vitest run', 'starts the tests themselves'],
  ['docs/contributing/how-we-test.md', 'OFFSHOOT_REQUESTS=', 'starts the tests themselves'],
];

/** Commands in blocks that are not run, without a reason in the table; and rows of the table without a block. */
export function unexplained(blocks: readonly CodeBlock[]): readonly string[] {
  const commands = blocks.filter(({ language, code }) => ['', 'text'].includes(language) && COMMAND.test(code));
  const isAbout = ([page, beginning]: (typeof NOT_RUN_BLOCKS)[number], { place, code }: CodeBlock): boolean =>
    place.startsWith(`${page}:`) && code.startsWith(beginning);
  return [
    ...commands.filter((block) => !NOT_RUN_BLOCKS.some((row) => isAbout(row, block))).map(({ place }) => place),
    ...NOT_RUN_BLOCKS.filter((row) => !commands.some((block) => isAbout(row, block))).map((row) => row.join(': ')),
  ];
}

/** Lines of "sh" blocks that are not run: they install or start what the test has installed and started. */
export const NOT_RUN_LINES =
  /^(npm (install|start|test|run)|npx vitest|node test\/|KUBECONFIG_TEST=|offshoot up --merge)/;

/** Pages that install Offshoot, and so begin on a cluster without it. */
export const WITHOUT_CONTROLLERS = new Set(['docs/operations/install.md', 'docs/operations/uninstall.md']);

/**
 * Accepts exit code 2 of a plan with changes, and stops controllers once they run, and watches once they print.
 * Instead of tests in Go (test/foreign/go-operator.test.ts runs them), it checks that their cluster answers.
 */
export const PRELUDE = `
exec 2>&1
set -euo pipefail
npx() { "$@"; }
go() { kubectl get --raw /readyz; }
helm() {
  # The cluster of "offshoot up" has our CRDs, as the page on installing says.
  if [ "$1" = install ]; then set -- "$@" --take-ownership; fi
  command helm "$@"
}
offshoot() {
  if [ "$1" = run ]; then
    # The pages speak of a cluster that no controller manages yet.
    kubectl delete leases -n kube-system --all > /dev/null
    command offshoot "$@" --metrics-bind-address 0 --health-probe-bind-address 0 > run.log 2>&1 &
    pid=$!
    until grep -q '"msg":"running"' run.log; do kill -0 $pid; done
    kill $pid
    wait $pid
  elif [ "$1" = up ]; then
    # In the background: so that the page has the id of this process.
    exec offshoot "$@"
  elif [[ " $* " == *" -w "* ]]; then
    env offshoot "$@" > watch.log &
    pid=$!
    until [ -s watch.log ]; do kill -0 $pid; sleep 0.1; done
    kill -INT $pid
    wait $pid || [ $? -eq 130 ]
  elif [ "$1" = plan ] || [ "\${2:-}" = plan ]; then
    command offshoot "$@" || [ $? -eq 2 ]
  else
    command offshoot "$@"
  fi
}
`;

const SHOP = 'kubectl apply -f examples/shop.yaml';
const RELEASE = 'helm install offshoot deploy/chart -n offshoot-system --create-namespace';
const NO_RELEASE = `
helm uninstall offshoot -n offshoot-system || true
kubectl delete namespace offshoot-system --ignore-not-found`;

/** Commands that set up what a page expects, or a section of it. */
export const BEFORE: Readonly<Record<string, string>> = {
  'docs/guide/command-line.md#Watch':
    'offshoot env create alice -n shop --subset orders=example.com/orders:2 --key alice --wait',
  'docs/guide/dashboard.md#In a cluster': `${SHOP}\n${RELEASE}`,
  'docs/guide/explain.md': SHOP,
  'docs/guide/prove.md': SHOP,
  'docs/guide/gitops.md': SHOP,
  'docs/guide/routing.md': `kubectl apply -f - <<EOF
{"apiVersion": "supergloo.solo.io/v1", "kind": "Mesh", "metadata": {"name": "payments", "namespace": "default"},
 "spec": {"awsAppMesh": {"region": "us-east-1"}}}
EOF`,
  'docs/guide/testing-operators.md#Pods that fail': 'kubectl create namespace web',
  'docs/operations/install.md#Without Helm': NO_RELEASE,
  'docs/operations/install.md#In single namespaces': `
for name in shop shop-staging shop-tools; do kubectl create namespace $name; done`,
  // The CRDs of the Prometheus operator.
  'docs/operations/monitor.md#Metrics, alerts and a dashboard': `
for kind in ServiceMonitor PrometheusRule; do kubectl apply -f - <<EOF
{"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
 "metadata": {"name": "\${kind,,}s.monitoring.coreos.com"},
 "spec": {"group": "monitoring.coreos.com", "scope": "Namespaced", "names": {"plural": "\${kind,,}s", "kind": "$kind"},
  "versions": [{"name": "v1", "served": true, "storage": true,
   "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}}}]}}
EOF
done
${RELEASE}`,
  'docs/operations/uninstall.md#With Helm': RELEASE,
  'docs/operations/uninstall.md#Without Helm': `${NO_RELEASE}\noffshoot install`,
  'docs/operations/upgrade.md#With Helm': `${RELEASE} --wait`,
  'docs/operations/upgrade.md#Without Helm': `${NO_RELEASE}\noffshoot install --set replicas=3`,
};
