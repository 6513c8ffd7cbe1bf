import { expect, it } from 'vitest';
import type { ShownHealth } from '../session/server-responses.ts';
import { plainStyle } from '../terminal/draw/style.ts';
import { statusText } from './server-status.ts';

it('never says that scans take 0 bytes', () => {
  const health = (scans: number, size_mb: number): ShownHealth => ({
    status: 'healthy',
    uptime: 60,
    version: '1.0.0',
    workers: { active: 0, idle: 2, total: 2 },
    queue: { pending: 0, running: 0, failed: 0 },
    workspace: { scans, size_mb, free_space_mb: 1024 },
  });
  const storage = (scans: number, size_mb: number) =>
    /storage +(.*);/.exec(statusText({ pid: 1, url: 'http://h' }, health(scans, size_mb), plainStyle))?.[1];
  expect(storage(0, 0)).toBe('0 scans, 0 bytes');
  expect(storage(5, 1)).toBe('5 scans, at most 1.0 MB');
  expect(storage(9, 41)).toBe('9 scans, 43 MB');
});
