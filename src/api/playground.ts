/**
 * On a namespace: whether all of the sample shop of `offshoot up` has been made there (`complete` or `incomplete`). Proxies
 * in the process of the cluster lead its requests, so its pods need no sidecar.
 */
export const PLAYGROUND = 'offshoot.dev/playground';
