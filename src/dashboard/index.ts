// The dashboard: a page that shows environments, claims, the mesh and routing rules while they change, and its server.
export { sessionKey } from './access/session-key.ts';
export { createDashboard } from './server/server.ts';
export type { Dashboard, DashboardOptions } from './server/server.ts';
export type { Terminal } from './terminal.ts';
