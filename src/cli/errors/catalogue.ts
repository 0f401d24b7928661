// Every error code of the command line, with its meaning and what to do. `offshoot errors` prints it, and the reference
// page is generated from it. Where the API server has a reason for the same error, the code is that reason.
// It is data only, so that every command can load it.

export interface ErrorEntry {
  readonly meaning: string;
  /** What to do. */
  readonly advice: string;
  /** The exit code of the command, unless it is 1. */
  readonly exit?: number;
}

const CATALOGUE = {
  // Arguments and flags.
  UnknownCommand: {
    meaning: 'unknown command',
    advice: 'Run "offshoot --help" for the list of commands, and "offshoot COMMAND --help" for subcommands.',
  },
  UnknownFlag: {
    meaning: 'unknown flag',
    advice: 'Run "offshoot COMMAND --help" for the flags of the command.',
  },
  MissingArgument: {
    meaning: 'a required argument is missing, such as the name of an object or the value of a flag',
    advice: 'Give what the message names; the help of the command has an example.',
  },
  ExtraArgument: {
    meaning: 'there are more arguments than the command takes',
    advice: 'Omit the last ones, or quote a value that contains spaces.',
  },
  MissingFlag: {
    meaning: 'a required flag is missing',
    advice: 'Add the flag that the message names.',
  },
  InvalidFlag: {
    meaning: 'the value of a flag or an argument is invalid',
    advice: 'Use the form that the message shows. If the value names an object, the object must exist.',
  },
  ConflictingFlags: {
    meaning: 'flags or arguments are mutually exclusive',
    advice: 'Omit one of them.',
  },

  // Files.
  InvalidFile: {
    meaning: 'a file given with -f or another flag cannot be read or is invalid',
    advice:
      'Fix the file at the line and column of the message, or check its path. "offshoot env validate -f FILE" and "offshoot claim validate -f FILE" check files without a cluster.',
  },
  InvalidKubeconfig: {
    meaning: 'the kubeconfig cannot be read, or does not contain the requested context',
    advice:
      'Choose another file with --kubeconfig or KUBECONFIG, or another context with --context; "kubectl config get-contexts" lists them.',
  },
  NoCluster: {
    meaning: 'no cluster is configured, and "offshoot up" has never run here',
    advice: 'Start one with "offshoot up", or set --kubeconfig or KUBECONFIG.',
  },

  // Objects in the cluster.
  NotFound: {
    meaning: 'there is no object with this name',
    advice:
      'Check the name and the namespace (-n); the list command of the kind shows all of them, with -A in all namespaces.',
  },
  NotInstalled: {
    meaning: 'a kind that the command needs is not installed in the cluster',
    advice:
      'Install the definitions: "offshoot install", or "offshoot crds | kubectl apply -f -". Kinds of Istio come with Istio.',
  },
  AlreadyExists: {
    meaning: 'another object with this name exists',
    advice: 'Choose another name, or delete the other one first. "offshoot env apply" changes an existing environment.',
  },
  BeingDeleted: {
    meaning: 'the object is being deleted, and can no longer be changed',
    advice: 'Wait until it is gone, then create it again.',
  },
  Deleted: {
    meaning: 'the object was deleted while the command waited for it',
    advice: 'Somebody deleted it, or its time to live was over.',
  },
  Conflict: {
    meaning: 'another client changed the object at the same time, or owns a field that would be changed',
    advice: 'Run the command again. If another program owns a field, --force-conflicts takes it over.',
  },
  Invalid: {
    meaning: 'an object violates its schema or a validation rule',
    advice: 'Change the field that the message names; "kubectl explain" and the reference pages say what it may be.',
  },
  Stalled: {
    meaning: 'the object is stalled: what the command waits for will not happen by itself',
    advice: 'The describe command of the object shows the reason next to the part concerned.',
  },
  NotReady: {
    meaning: 'the command needs the object to be ready, and it is not',
    advice: 'The describe command of the object shows what it waits for; --wait waits for it.',
  },
  TimedOut: {
    meaning: 'timed out while waiting; nothing is rolled back',
    advice:
      'The describe command shows what it waits for; --timeout sets a longer time. Check that the control plane runs: "offshoot version".',
    exit: 3,
  },
  NoTimeToLive: {
    meaning: 'an environment without a time to live (spec.ttl) cannot be extended',
    advice:
      'It lives until it is deleted, so there is nothing to do. "offshoot env create --ttl" limits the life of a new one.',
  },
  NoCredentials: {
    meaning: 'the target of a claim has no credentials for a kubeconfig',
    advice:
      'Create the Secret that the target names, with the key in the message; "offshoot target describe" shows it.',
  },
  UnexpectedDecision: {
    meaning: 'a request of --requests does not go where its field "expect" says',
    advice: 'The lines before the error say where it goes; "offshoot explain" for it alone shows every rule.',
  },

  // The control plane and its installation.
  AlreadyRunning: {
    meaning:
      'another process runs the same controllers for this cluster, and the two would undo the writes of each other',
    advice: 'Stop the other one, or wait for it with --leader-elect.',
  },
  LeaseLost: {
    meaning: 'the process could not renew its lease in time and exits, because another one may have taken over',
    advice: 'Restart it. If this happens often, the API server is slow or the process gets too little CPU.',
  },
  OtherInstallation: {
    meaning: 'Offshoot is already installed, by another program or in another namespace',
    advice: 'Use the program that installed it, or the namespace that the message names.',
  },
  InUse: {
    meaning: 'something that would be removed or overwritten is still in use',
    advice: 'The message says by what. Remove that first, or use the flag that the message names.',
  },
  PortInUse: {
    meaning: 'another program listens on the requested port',
    advice: 'Choose another port with the flag that the message names, or 0 for a free one.',
  },
  InvalidDataDirectory: {
    meaning:
      'the data directory of "offshoot up" cannot be used: it cannot be created, is in use, or holds something else',
    advice: 'Choose another one with --data-dir, stop the process that uses it, or start over with --fresh.',
  },
  DemoFailed: {
    meaning: 'a step of "offshoot demo" failed',
    advice: 'Run it again on a less busy machine. If it fails again, report it with its output.',
  },

  // Errors of the API server.
  Unauthorized: {
    meaning: 'the API server does not accept the credentials',
    advice: 'Log in again, or choose another --context.',
  },
  Forbidden: {
    meaning: 'you do not have permission to do this in the cluster',
    advice:
      'Ask for the permission that the message names; "kubectl auth can-i" checks it. "offshoot install" makes the roles offshoot-view, -edit and -admin part of the usual ones.',
  },
  DeniedByWebhook: {
    meaning: 'an admission webhook denied the request',
    advice:
      'Change what the message names, or ask whoever runs the webhook. The webhook of Offshoot rejects environments that cannot work, changes to immutable fields, and what you have no permission to do yourself.',
  },
  BadRequest: {
    meaning: 'the API server does not understand the request, or a webhook rejects it',
    advice: 'Change what the message names. Without one, the versions may be incompatible: see "offshoot version".',
  },
  TooManyRequests: {
    meaning: 'the API server is overloaded, or a PodDisruptionBudget forbids an eviction',
    advice: 'Run the command again in a while.',
  },
  Expired: {
    meaning: 'the resource version of a list or watch has expired',
    advice: 'Run the command again.',
  },
  InternalError: {
    meaning: 'the API server, or a webhook that it calls, failed',
    advice: 'Run the command again. If a webhook does not answer, the message names it: check that its pods run.',
  },
  ServiceUnavailable: {
    meaning: 'the API server is unavailable',
    advice: 'Run the command again in a while.',
  },
  ServerRefused: {
    meaning: 'the API server rejected a request for another reason',
    advice: 'The message has the details.',
  },

  // The connection to the API server.
  ConnectionRefused: {
    meaning: 'nothing listens at the address of the API server',
    advice: 'Start the cluster ("offshoot up", if it is that one), or check the address in the kubeconfig.',
  },
  HostNotFound: {
    meaning: 'the host name of the API server cannot be resolved',
    advice: 'Check the server in the kubeconfig, and whether you need a VPN.',
  },
  Unreachable: {
    meaning: 'there is no network route to the API server',
    advice: 'Check the network, and whether you need a VPN.',
  },
  Timeout: {
    meaning: 'the API server did not answer in time',
    advice:
      'Run the command again. If the error persists, check the network, any proxy in between, and the load of the server.',
  },
  ConnectionLost: {
    meaning: 'the connection to the API server broke',
    advice: 'Run the command again.',
  },
  ProxyFailed: {
    meaning: 'the proxy that the kubeconfig names (proxy-url) does not allow the connection',
    advice: 'Check proxy-url of the cluster in the kubeconfig, and the proxy itself.',
  },
  CertificateRefused: {
    meaning: 'the certificate of the API server is not trusted',
    advice: 'Check certificate-authority-data in the kubeconfig, and that the address is that of the cluster.',
  },
  CredentialsUnavailable: {
    meaning: 'no credentials: a program or file that the kubeconfig names for them failed',
    advice: 'Run the program that the message names by itself; log in again.',
  },
  InvalidAnswer: {
    meaning: 'the answer is not from a Kubernetes API, or a proxy in between changes it',
    advice: 'Check the server in the kubeconfig, and any proxy in between.',
  },

  Unexpected: {
    meaning: 'unexpected error: it may be a bug in Offshoot',
    advice: 'OFFSHOOT_DEBUG=1 before the command prints where it comes from; report it with that.',
  },
} as const satisfies Readonly<Record<string, ErrorEntry>>;

export type ErrorCode = keyof typeof CATALOGUE;

export const ERRORS: Readonly<Record<ErrorCode, ErrorEntry>> = CATALOGUE;

export function isErrorCode(text: string): text is ErrorCode {
  return Object.hasOwn(ERRORS, text);
}
