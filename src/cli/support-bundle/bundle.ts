// `offshoot support-bundle`: writes the collected files as an archive.
import { writeFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { withConnection } from '../options.ts';
import type { ClusterOptions } from '../options.ts';
import { partsOf } from '../run/parts.ts';
import { SUBJECTS } from '../status/objects.ts';
import { observe } from '../status/read.ts';
import { reportOf } from '../status/report.ts';
import { dataText } from '../terminal/output.ts';
import { version } from '../version/version.ts';
import { collect } from './collect.ts';
import { redactedText } from './redact.ts';
import { tar } from './tar.ts';

export interface BundleOptions extends ClusterOptions {
  readonly file?: string;
}

export async function supportBundle(options: BundleOptions): Promise<void> {
  const now = new Date();
  const time = now.toISOString().slice(0, 19).replaceAll(/[-:]/g, '');
  const name = `offshoot-support-${time}`;
  const { files, unread } = await withConnection(options, async ({ client }) => {
    const collected = await collect(client, options.namespace);
    const kinds = SUBJECTS.map(({ kind }) => kind);
    const observed = await observe(client, kinds, options.namespace);
    const report = reportOf({ observed, parts: partsOf(), subjects: SUBJECTS, version: version(), now: now.getTime() });
    return {
      ...collected,
      files: new Map([...collected.files, ['status.json', redactedText(dataText('json', report))]]),
    };
  });
  const sorted = [...files].toSorted(([a], [b]) => (a < b ? -1 : 1));
  const manifest = {
    program: `offshoot ${version()}`,
    collectedAt: now.toISOString(),
    ...(options.namespace !== undefined && { namespace: options.namespace }),
    files: sorted.map(([path, text]) => ({ path, bytes: Buffer.byteLength(text) })),
    unread,
    leftOut: 'Secrets; values of variables, flags and texts that look like secrets are <redacted>',
  };
  const entries = [['manifest.json', dataText('json', manifest)] as const, ...sorted];
  const archive = gzipSync(
    tar(
      entries.map(([path, text]) => ({
        name: `${name}/${path}`,
        type: 'file' as const,
        mode: 0o600,
        content: Buffer.from(text),
      })),
    ),
  );
  const file = options.file ?? `${name}.tar.gz`;
  if (file === '-') process.stdout.write(archive);
  else writeFileSync(file, archive, { mode: 0o600 });
  for (const { what, why } of unread) console.error(`not in it: ${what}: ${why}`);
  if (file !== '-') console.log(`${file}: ${sorted.length} files, ${archive.length} bytes`);
}
