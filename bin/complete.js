#!/usr/bin/env node
// What kubectl runs to complete "kubectl offshoot": it finds programs of this name on the PATH.
process.argv.splice(2, 0, 'complete', '--');
await import('./offshoot.js');
