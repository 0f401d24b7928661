// The network of the real node. It is alone in its network namespace, so these never meet anything outside.
export const nodeName = 'node-1';
export const nodeAddress = '172.30.0.1';
export const apiPort = 6443;
export const podRange = '10.244.0.0/24';
export const dnsAddress = '10.0.0.10';
/** containerd's socket, in the node's own /run. */
export const containerdSocket = '/run/containerd/containerd.sock';
/** What the pods of the tests run, and what holds their namespaces. */
export const toolboxImage = 'localhost/toolbox:test';
