// The network of the real node. It has its own network namespace, so these never conflict with anything outside.
export const nodeName = 'node-1';
export const nodeAddress = '172.30.0.1';
export const apiPort = 6443;
export const podRange = '10.244.0.0/24';
export const dnsAddress = '10.0.0.10';
/** containerd's socket, in the node's own /run. */
export const containerdSocket = '/run/containerd/containerd.sock';
/** The image of test pods and of their pause containers. */
export const toolboxImage = 'localhost/toolbox:test';
