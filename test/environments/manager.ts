// The controllers of environments, without the delays for proxies: the tests have none.
import { createLogger, Manager } from '../../src/controller/index.ts';
import type { ManagerOptions } from '../../src/controller/index.ts';
import { environments } from '../../src/environments/index.ts';

export function environmentsManager(options: Pick<ManagerOptions, 'client'> & Partial<ManagerOptions>): Manager {
  const logger = createLogger({ level: 'error' });
  return new Manager({ controllers: environments({ drainMs: 0, settleMs: 0 }), logger, ...options });
}
