// A file lock that the operating system releases even when its holder is killed: SQLite's.
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as delay } from 'node:timers/promises';

/** Acquires the lock of a file, until it is disposed. Calls `waiting` once if another process holds it. */
export async function lock(file: string, waiting: () => void): Promise<Disposable> {
  const database = new DatabaseSync(file, { timeout: 0 });
  for (let reported = false; ; reported = true) {
    try {
      database.exec('BEGIN EXCLUSIVE');
      return { [Symbol.dispose]: () => database.close() };
    } catch (error) {
      if ((error as { errcode?: number }).errcode !== 5) throw error; // 5: SQLITE_BUSY
      if (!reported) waiting();
      await delay(500);
    }
  }
}
