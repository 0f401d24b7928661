// The scenarios of environments.
import path from 'node:path';
import { Scenarios } from '../scenarios/scenario.ts';

export const scenarios = new Scenarios(path.join(import.meta.dirname, 'scenarios'));
