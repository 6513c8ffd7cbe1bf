import { describe, expect, it } from 'vitest';
import type { StageRecord } from '../domain/scan.ts';
import { finishingText, StageRates, slowestStage } from './stage-facts.ts';

function stage(instance_id: string, more: Partial<StageRecord> = {}): StageRecord {
  return { instance_id, status: 'running', items_in: 0, items_out: 0, ...more } as StageRecord;
}

describe('StageRates', () => {
  it('has the mean of the last 5 s, and 0 for a stage that does not run', () => {
    const rates = new StageRates();
    const grab = stage('grab');
    const done = stage('find', { status: 'completed', items_out: 9 });
    for (let second = 0; second <= 20; second++) {
      grab.items_in = second < 10 ? 0 : (second - 10) * 4;
      grab.items_out = second;
      rates.measure([grab, done], second * 1000);
    }
    expect(grab).toMatchObject({ items_in_per_second: 4, items_out_per_second: 1 });
    expect(done).toMatchObject({ items_in_per_second: 0, items_out_per_second: 0 });
    grab.status = 'completed';
    rates.measure([grab], 21_000);
    expect(grab.items_in_per_second).toBe(0);
  });
});

describe('slowestStage', () => {
  const stages = [stage('find'), stage('sweep'), stage('grab'), stage('cve')];

  it('is the last one with a long queue: those before it are blocked', () => {
    const queued = new Map([
      ['sweep', 90],
      ['grab', 100],
      ['cve', 3],
    ]);
    expect(slowestStage(stages, queued)).toBe('grab');
  });

  it('is the first running one while nothing waits', () => {
    expect(slowestStage(stages, new Map())).toBe('find');
    expect(slowestStage([stage('find', { status: 'completed' }), stage('sweep')], new Map())).toBe('sweep');
    expect(slowestStage([stage('find', { status: 'pending' })], new Map())).toBeNull();
  });
});

describe('finishingText', () => {
  it('names the work and how much it is', () => {
    const counts = { live_hosts: 1, open_ports: 12_000, vulnerabilities: 0 };
    expect(finishingText('evaluation', counts)).toBe('evaluation of 1 host');
    expect(finishingText('fingerprinting', counts)).toBe('fingerprinting of 12,000 open ports');
    expect(finishingText('reporting', counts)).toBe('reports');
    expect(finishingText('starting', counts)).toBe('results');
  });
});
