// CoreDNS with only the plugins that a small cluster needs: its own main package includes clients of every cloud.
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { goBuild, writeModule } from './go.ts';
import type { ProgramSet } from './programs.ts';

const plugins = ['health', 'ready', 'errors', 'cache', 'kubernetes'];

export const coredns: ProgramSet<'coredns'> = {
  name: 'coredns',
  title: 'CoreDNS',
  versions: ['1.15.0'],
  programs: ['coredns'],
  variable: 'OFFSHOOT_NODE_PROGRAMS',
  advice: 'run `npm run real-node -- fetch` (needs Go)',
  async build({ work, bin, version, log }) {
    writeModule(work, { go: '1.26.0', require: { 'github.com/coredns/coredns': `v${version}` } });
    mkdirSync(path.join(work, 'coredns'));
    writeFileSync(path.join(work, 'coredns', 'main.go'), mainProgram());
    await goBuild({ work, bin, packages: ['./coredns'], log });
  },
};

/** The main package. CoreDNS runs plugins in the order of the directives. */
function mainProgram(): string {
  const lines = [
    'package main',
    '',
    'import (',
    '\t"github.com/coredns/coredns/core/dnsserver"',
    '\t"github.com/coredns/coredns/coremain"',
    ...plugins.map((name) => `\t_ "github.com/coredns/coredns/plugin/${name}"`),
    ')',
    '',
    'func init() {',
    `\tdnsserver.Directives = []string{${plugins.map((name) => `"${name}"`).join(', ')}}`,
    '}',
    '',
    'func main() { coremain.Run() }',
    '',
  ];
  return lines.join('\n');
}
