import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, test } from 'vitest';
import { writeProgram } from '../../test/support/write-program.ts';
import { withoutSymbols } from './elf.ts';

test('withoutSymbols makes a program smaller, keeps it working, and is idempotent', () => {
  const dir = mkdtempSync(path.join(tmpdir(), 'offshoot-elf-'));
  try {
    const whole = readFileSync(process.execPath);
    const stripped = withoutSymbols(whole);
    expect(stripped.length).toBeLessThan(whole.length);
    expect(withoutSymbols(stripped).equals(stripped)).toBe(true);
    const program = path.join(dir, 'node');
    writeProgram(program, stripped);
    expect(execFileSync(program, ['-p', '6 * 7'], { encoding: 'utf8' })).toBe('42\n');
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
});

test('withoutSymbols refuses a file that is not an ELF program', () => {
  expect(() => withoutSymbols(Buffer.from('#!/bin/sh\n'.repeat(20)))).toThrow('not a 64-bit little-endian ELF program');
});
