/**
 * On a namespace: whether the sample shop of `offshoot up` is fully created there (`complete` or `incomplete`). Proxies
 * in the process of the embedded cluster route its requests, so its pods need no sidecar.
 */
export const PLAYGROUND = 'offshoot.dev/playground';
