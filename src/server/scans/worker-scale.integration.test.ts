import { describe, expect, it } from 'vitest';
import { loadConfig } from '../../config/load.ts';
import { openService } from '../fixtures/service.ts';
import { WorkerScale } from './worker-scale.ts';

let now = 0;

function scale(flags: Record<string, unknown>): WorkerScale {
  const { config } = loadConfig({ env: { HOME: '/none' }, systemFile: '/none/c.yaml', flags });
  return new WorkerScale(config, () => now);
}

describe('the number of workers', () => {
  it('is server.workers without auto_scale, within workers.min and workers.max', () => {
    const fixed = scale({ 'server.workers': 3 });
    fixed.follow(0);
    now += 3_600_000;
    fixed.follow(0);
    expect([fixed.size, fixed.most]).toEqual([3, 3]);
    expect(scale({ 'server.workers': 1, 'workers.min': 2 }).size).toBe(2);
    expect(scale({ 'server.workers': 9, 'workers.max': 5 }).size).toBe(5);
  });

  it('grows with the queue and shrinks when there is less to do', () => {
    const moving = scale({
      'server.workers': 2,
      'workers.min': 1,
      'workers.max': 4,
      'workers.auto_scale': true,
    });
    expect([moving.size, moving.most]).toEqual([2, 4]);
    for (const busy of [1, 2, 3, 4]) moving.follow(busy);
    expect(moving.size).toBe(4);
    moving.follow(3);
    now += 29_000;
    moving.follow(0);
    expect(moving.size).toBe(4);
    now += 2000;
    moving.follow(2);
    expect(moving.size).toBe(2);
    moving.follow(0);
    now += 31_000;
    moving.follow(0);
    expect(moving.size).toBe(1);
  });
});

describe('a pool of workers', () => {
  it('runs more scans at a time when the queue is long, up to workers.max', async () => {
    const flags = { 'server.workers': 1, 'workers.max': 2, 'workers.auto_scale': true };
    const service = await openService(flags, { working: true });
    try {
      expect(service.workers.counts()).toEqual({ active: 0, idle: 1, total: 1 });
      for (const name of ['hang', 'hang', 'hang']) await service.submit(name);
      await expect
        .poll(() => service.workers.counts())
        .toEqual({
          active: 2,
          idle: 0,
          total: 2,
        });
      expect(await service.store.scanQueue.counts('2000')).toMatchObject({ pending: 1, running: 2 });
    } finally {
      await service.close();
    }
  });
});
