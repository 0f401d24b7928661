// A lock that the operating system gives back even when its holder is killed: SQLite's, on a file.
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as delay } from 'node:timers/promises';

/** Holds the lock of a file until it is disposed of. Calls `waiting` once if another process holds it. */
export async function lock(file: string, waiting: () => void): Promise<Disposable> {
  const database = new DatabaseSync(file, { timeout: 0 });
  for (let told = false; ; told = true) {
    try {
      database.exec('BEGIN EXCLUSIVE');
      return { [Symbol.dispose]: () => database.close() };
    } catch (error) {
      if ((error as { errcode?: number }).errcode !== 5) throw error; // 5: SQLITE_BUSY
      if (!told) waiting();
      await delay(500);
    }
  }
}
