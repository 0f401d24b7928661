// Vitest reporter: ends a run with one plain line, `N passed, N failed[, N skipped]`.
import type { Reporter, TestModule } from 'vitest/node';

export default class ClosingLine implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], errors: readonly unknown[]): void {
    let passed = 0;
    let skipped = 0;
    let failed = errors.length;
    for (const module of modules) {
      if (module.errors().length > 0) failed++;
      // A failed hook skips its tests; it must count as a failure.
      for (const suite of module.children.allSuites()) if (suite.errors().length > 0) failed++;
      for (const test of module.children.allTests()) {
        const { state } = test.result();
        if (state === 'passed') passed++;
        else if (state === 'failed') failed++;
        else skipped++;
      }
    }
    console.log(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`);
  }
}
