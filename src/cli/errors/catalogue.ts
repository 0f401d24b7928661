// Every code that an error of the command line may have, with what it means and what to do. `offshoot errors` prints it,
// and the reference page is written from it. Codes that the API server has for the same thing are its own.
// Data alone, so that every command may load it.

export interface ErrorEntry {
  readonly meaning: string;
  /** What to do. */
  readonly advice: string;
  /** The exit code of the command, unless it is 1. */
  readonly exit?: number;
}

const CATALOGUE = {
  // What was typed.
  UnknownCommand: {
    meaning: 'there is no command of this name',
    advice: 'See "offshoot --help" for the commands, and "offshoot COMMAND --help" for those below one.',
  },
  UnknownFlag: {
    meaning: 'the command has no flag of this name',
    advice: 'See "offshoot COMMAND --help". A flag of one command need not be one of another.',
  },
  MissingArgument: {
    meaning: 'something that the command needs was not given, such as the name of an object or the value of a flag',
    advice: 'Give what the message names; the help of the command has an example.',
  },
  ExtraArgument: {
    meaning: 'there are more arguments than the command takes',
    advice: 'Leave the last ones out, or put a value that contains spaces in quotes.',
  },
  MissingFlag: {
    meaning: 'the command can not know what is meant without one of its flags',
    advice: 'Add the flag that the message names.',
  },
  InvalidFlag: {
    meaning: 'the value of a flag or an argument can not be used',
    advice: 'Write it in the form that the message shows. What it names must exist, if it names something.',
  },
  ConflictingFlags: {
    meaning: 'flags or arguments were given that exclude each other',
    advice: 'Leave one of them out.',
  },

  // What was given in files.
  InvalidFile: {
    meaning: 'a file that -f or another flag names can not be read, or something in it is wrong',
    advice:
      'Mend the file at the line and column of the message, or check its path. "offshoot env validate -f FILE" and "offshoot claim validate -f FILE" check files without a cluster.',
  },
  InvalidKubeconfig: {
    meaning: 'the kubeconfig can not be used: it can not be read, or the context that is asked for is not in it',
    advice:
      'Choose another file with --kubeconfig or KUBECONFIG, or another context with --context; "kubectl config get-contexts" lists them.',
  },
  NoCluster: {
    meaning: 'no kubeconfig names a cluster, and "offshoot up" has never run here',
    advice: 'Start one with "offshoot up", or say which one with --kubeconfig or KUBECONFIG.',
  },

  // What the cluster has.
  NotFound: {
    meaning: 'there is no object of this name',
    advice:
      'Check the name and the namespace (-n); the list command of the kind shows all there are, with -A in every namespace.',
  },
  NotInstalled: {
    meaning: 'the cluster does not know a kind that the command needs',
    advice:
      'Install the definitions: "offshoot install", or "offshoot crds | kubectl apply -f -". Kinds of Istio come with Istio.',
  },
  AlreadyExists: {
    meaning: 'there is another object of this name',
    advice:
      'Choose another name, or delete the other one first. "offshoot env apply" changes an environment that is there.',
  },
  BeingDeleted: {
    meaning: 'the object is being deleted, and can no longer be changed',
    advice: 'Wait until it is gone, then make it anew.',
  },
  Deleted: {
    meaning: 'the object was deleted while the command waited for it',
    advice: 'Find out who deleted it: somebody else, or its time to live, which was over.',
  },
  Conflict: {
    meaning: 'somebody else has changed the object at the same time, or owns a field that would be changed',
    advice: 'Run the command again. Where another program owns a field, --force-conflicts takes it over.',
  },
  Invalid: {
    meaning: 'an object breaks its schema or a rule, and is refused',
    advice: 'Change the field that the message names; "kubectl explain" and the reference pages say what it may be.',
  },
  Stalled: {
    meaning: 'what was waited for will not happen by itself: the object is stalled',
    advice: 'The describe command of the object shows the reason at the part that it is about.',
  },
  NotReady: {
    meaning: 'the object is not ready, and the command needs that it is',
    advice: 'The describe command of the object shows what it waits for; --wait waits for it.',
  },
  TimedOut: {
    meaning: 'what was waited for has not happened in time; nothing is undone',
    advice:
      'See with the describe command what it waits for; --timeout waits longer. Check that the control plane runs: "offshoot version".',
    exit: 3,
  },
  NoTimeToLive: {
    meaning: 'an environment without a time to live (spec.ttl) can not be extended',
    advice:
      'It lives until it is deleted, so there is nothing to do. "offshoot env create --ttl" limits the life of a new one.',
  },
  NoCredentials: {
    meaning: 'the target of a claim has no credentials that a kubeconfig could be made of',
    advice:
      'Make the Secret that the target names, with the key that the message says; "offshoot target describe" shows it.',
  },
  UnexpectedDecision: {
    meaning: 'a request of --requests does not go where its field "expect" says',
    advice: 'The lines before the error say where it goes; "offshoot explain" for it alone shows every rule.',
  },

  // The control plane and its installation.
  AlreadyRunning: {
    meaning: 'another process runs the same controllers for this cluster, and two would undo the writes of each other',
    advice: 'Stop the other one, or stand by for it with --leader-elect in its namespace.',
  },
  LeaseLost: {
    meaning: 'the process could not renew its lease in time, so that another one may have taken over; it ends',
    advice:
      'Let what started it start it again. If it happens often, the API server is slow or the process gets too little CPU.',
  },
  OtherInstallation: {
    meaning: 'Offshoot is installed already, by another program or in another namespace',
    advice: 'Use the program that installed it, or the namespace that the message names.',
  },
  InUse: {
    meaning: 'something that would be removed or overwritten is still used',
    advice: 'The message says by what. Remove that first, or use the flag that the message names.',
  },
  PortInUse: {
    meaning: 'another program listens on a port that was asked for',
    advice: 'Choose another port with the flag that the message names, or 0 for a free one.',
  },
  InvalidDataDirectory: {
    meaning:
      'the data directory of "offshoot up" can not be used: it can not be made, is in use, or holds something else',
    advice: 'Choose another one with --data-dir, stop the process that uses it, or start over with --fresh.',
  },
  DemoFailed: {
    meaning: 'a step of "offshoot demo" did not end as it should',
    advice: 'Run it again on a machine with less to do. If it fails again, report it with its output.',
  },

  // What the API server answers.
  Unauthorized: {
    meaning: 'the API server does not accept the credentials',
    advice: 'Get new ones (log in again), or choose another --context.',
  },
  Forbidden: {
    meaning: 'you may not do this in the cluster',
    advice:
      'Ask for the right that the message names; "kubectl auth can-i" tests it. "offshoot install" makes the roles offshoot-view, -edit and -admin part of the usual ones.',
  },
  DeniedByWebhook: {
    meaning: 'an admission webhook has denied the request',
    advice:
      'Change what the message names, or ask whoever runs the webhook. That of Offshoot refuses environments that could not work, fields that can not be changed later, and what you may not do yourself.',
  },
  BadRequest: {
    meaning: 'the API server does not understand the request, or a webhook refuses it',
    advice: 'Change what the message names. Without one, the versions may not fit together: see "offshoot version".',
  },
  TooManyRequests: {
    meaning: 'the API server has too much to do, or a disruption budget forbids an eviction',
    advice: 'Run the command again in a while.',
  },
  Expired: {
    meaning: 'the API server has forgotten the state from which a list or watch would go on',
    advice: 'Run the command again.',
  },
  InternalError: {
    meaning: 'something failed in the API server or in a webhook that it asks',
    advice: 'Run the command again. If a webhook does not answer, the message names it: check that its pods run.',
  },
  ServiceUnavailable: {
    meaning: 'the API server can not answer now',
    advice: 'Run the command again in a while.',
  },
  ServerRefused: {
    meaning: 'the API server has refused a request for a reason that has no code of its own here',
    advice: 'The message has its words.',
  },

  // The connection to it.
  ConnectionRefused: {
    meaning: 'nobody answers at the address of the API server',
    advice: 'Start the cluster ("offshoot up", if it is that one), or check the address in the kubeconfig.',
  },
  HostNotFound: {
    meaning: 'the name of the API server has no address',
    advice: 'Check the server in the kubeconfig, and whether you need a VPN.',
  },
  Unreachable: {
    meaning: 'there is no way to the API server in the network',
    advice: 'Check the network, and whether you need a VPN.',
  },
  Timeout: {
    meaning: 'the API server has not answered in time',
    advice: 'Run the command again. If it stays, check the network, a proxy between, and the load of the server.',
  },
  ConnectionLost: {
    meaning: 'the connection to the API server broke',
    advice: 'Run the command again.',
  },
  ProxyFailed: {
    meaning: 'the proxy that the kubeconfig names (proxy-url) does not let the connection through',
    advice: 'Check proxy-url of the cluster in the kubeconfig, and the proxy itself.',
  },
  CertificateRefused: {
    meaning: 'the certificate of the API server is not trusted',
    advice: 'Check certificate-authority-data in the kubeconfig, and that the address is that of the cluster.',
  },
  CredentialsUnavailable: {
    meaning: 'credentials can not be had: a program or a file that the kubeconfig names for them fails',
    advice: 'Run the program that the message names by itself; log in again.',
  },
  InvalidAnswer: {
    meaning: 'what answers is no Kubernetes API, or something between changes its answers',
    advice: 'Check the server in the kubeconfig, and a proxy between.',
  },

  Unexpected: {
    meaning: 'nobody has foreseen this error: it may be a defect of Offshoot',
    advice: 'OFFSHOOT_DEBUG=1 before the command prints where it comes from; report it with that.',
  },
} as const satisfies Readonly<Record<string, ErrorEntry>>;

export type ErrorCode = keyof typeof CATALOGUE;

export const ERRORS: Readonly<Record<ErrorCode, ErrorEntry>> = CATALOGUE;

export function isErrorCode(text: string): text is ErrorCode {
  return Object.hasOwn(ERRORS, text);
}
