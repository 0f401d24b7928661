// The durable back end of the store: a SQLite file in a data directory, synced to disk before a write is acknowledged.
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Backend, StoreEvent, StoredRow } from './types.ts';

const schema = `
  CREATE TABLE IF NOT EXISTS objects (
    id INTEGER PRIMARY KEY,
    collection TEXT NOT NULL,
    key TEXT NOT NULL,
    version INTEGER NOT NULL,
    json BLOB NOT NULL
  );
  CREATE UNIQUE INDEX IF NOT EXISTS objects_by_key ON objects (collection, key);
  CREATE TABLE IF NOT EXISTS meta (name TEXT PRIMARY KEY, value INTEGER NOT NULL);
  INSERT OR IGNORE INTO meta VALUES ('version', 1);
`;

/** Opens or creates the database in a data directory; `fresh` empties it. Throws if another process has it open. */
export function openSqlite(directory: string, options: { readonly fresh?: boolean } = {}): Backend {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const ownerFile = join(directory, 'server.pid');
  const file = join(directory, 'cluster.db');
  const isNew = !existsSync(file);
  const database = new DatabaseSync(file);
  try {
    // A new file holds no data yet, so creating it need not sync at every step.
    prepare(database, isNew ? 'OFF' : 'FULL');
    database.exec('PRAGMA synchronous = FULL');
    if (isNew) database.exec('PRAGMA wal_checkpoint');
  } catch (error) {
    database.close();
    if (isLocked(error)) throw new DataDirectoryInUse(directory, ownerOf(ownerFile));
    const problem = (error as Error).message;
    throw new DataDirectoryUnusable(
      `the data directory ${directory} cannot be used (${problem}): choose another one, or remove ${file}`,
      { cause: error },
    );
  }
  // Resource versions keep increasing, so that clients cannot confuse old and new objects.
  if (options.fresh === true) database.exec('DELETE FROM objects');
  writeFileSync(ownerFile, `${process.pid}\n`);
  const upsert = database.prepare(
    'INSERT INTO objects (collection, key, version, json) VALUES (?, ?, ?, ?) ' +
      'ON CONFLICT (collection, key) DO UPDATE SET version = excluded.version, json = excluded.json',
  );
  const erase = database.prepare('DELETE FROM objects WHERE collection = ? AND key = ?');
  const setVersion = database.prepare("UPDATE meta SET value = ? WHERE name = 'version'");
  const getVersion = database.prepare("SELECT value FROM meta WHERE name = 'version'");
  const all = database.prepare('SELECT collection, key, version, json FROM objects ORDER BY collection, key');
  return {
    load: () => ({
      version: Number(getVersion.get()?.['value'] ?? 1),
      rows: all.all() as unknown as StoredRow[],
    }),
    commit: (events: readonly StoreEvent[], version: number) => {
      database.exec('BEGIN IMMEDIATE');
      try {
        for (const { type, stored } of events) {
          if (type === 'DELETED') erase.run(stored.collection, stored.key);
          else upsert.run(stored.collection, stored.key, stored.version, stored.bytes);
        }
        setVersion.run(version);
        database.exec('COMMIT');
      } catch (error) {
        if (database.isTransaction) database.exec('ROLLBACK');
        throw error;
      }
    },
    close: () => {
      rmSync(ownerFile, { force: true });
      database.close();
    },
  };
}

function prepare(database: DatabaseSync, synchronous: 'OFF' | 'FULL'): void {
  // The operating system releases the exclusive lock when the process ends, even after kill -9.
  database.exec('PRAGMA locking_mode = EXCLUSIVE');
  database.exec(`PRAGMA synchronous = ${synchronous}`);
  database.exec('PRAGMA journal_mode = WAL');
  // The store keeps all objects in memory and reads the file only at start: a large cache would duplicate them.
  database.exec('PRAGMA cache_size = -8192');
  // Larger than a new cluster, which would otherwise be copied into the database while it starts.
  database.exec('PRAGMA wal_autocheckpoint = 4000');
  database.exec(`BEGIN IMMEDIATE; ${schema} COMMIT`);
}

function isLocked(error: unknown): boolean {
  return error instanceof Error && /database is locked/.test(error.message);
}

function ownerOf(file: string): string {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch {
    return '';
  }
}

/** The directory does not contain a valid database. */
class DataDirectoryUnusable extends Error {
  override readonly name = 'DataDirectoryUnusable';
}

/** Another process uses this directory. */
export class DataDirectoryInUse extends Error {
  constructor(directory: string, pid: string) {
    const owner = pid === '' ? 'another process' : `the process ${pid}`;
    super(`the data directory ${directory} is in use by ${owner}: stop it first, or choose another directory`);
    this.name = 'DataDirectoryInUse';
  }
}
