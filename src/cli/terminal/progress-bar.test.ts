import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { initialProgress } from '../../domain/scan-progress.ts';
import { columnsOf } from './printable.ts';
import { clock, formatCount, ProgressBar, progressLine } from './progress-bar.ts';

const live = {
  results: { live_hosts: 3, open_ports: 12, vulnerabilities: 0 },
  progress: {
    ...initialProgress(),
    percent: 25.7,
    phase: 'scan\x1b[2J',
    hosts_done: 1,
    hosts_total: 4,
    paused: false,
    rate: 950.4,
    eta_seconds: null,
    resumes: 0,
    shards: { total: 1, done: 0, running: 1 },
  },
};

describe('progressLine', () => {
  it('shows phase, percent, hosts, open ports, rate and time', () => {
    expect(progressLine(live, 65_000)).toBe(
      '[#####               ]  25 %  scan\\x1b[2J  3 hosts  12 open  950/s  1:05',
    );
  });

  it('shows what remains only with its basis', () => {
    const withEta = (more: object) => progressLine({ ...live, progress: { ...live.progress, ...more } }, 0);
    expect(withEta({ eta_seconds: 65 })).not.toContain('left');
    expect(withEta({ eta_seconds: 65, eta_basis: '300 ports at 4.6/s, mean of the last 30 s' })).toMatch(
      / {2}~1:05 left \(300 ports at 4\.6\/s, mean of the last 30 s\)$/,
    );
    expect(withEta({ eta_seconds: 5, eta_basis: 'x', finishing: 'evaluation of 3 hosts' })).toMatch(
      / {2}finishing: evaluation of 3 hosts$/,
    );
  });
});

describe('ProgressBar', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it('draws at most five times a second and leaves nothing behind', () => {
    const written: string[] = [];
    const bar = new ProgressBar({ columns: 40, write: (text) => written.push(text) });
    for (let index = 0; index < 100; index++) {
      bar.update(live);
      vi.advanceTimersByTime(10);
    }
    expect(written.length).toBeLessThanOrEqual(6);
    for (const text of written) expect(columnsOf(text.replace('\r\x1b[2K', ''))).toBeLessThan(40);
    bar.note('remark');
    expect(written.slice(-3)[1]).toBe('remark\n');
    bar.end();
    expect(written.at(-1)).toBe('\r\x1b[2K');
    vi.advanceTimersByTime(1000);
    expect(written.at(-1)).toBe('\r\x1b[2K');
  });

  it('writes nothing when nothing was shown', () => {
    const written: string[] = [];
    new ProgressBar({ write: (text) => written.push(text) }).end();
    expect(written).toEqual([]);
  });
});

describe('words', () => {
  it('counts and tells the time', () => {
    expect([formatCount(1, 'host'), formatCount(2, 'host')]).toEqual(['1 host', '2 hosts']);
    expect([clock(0), clock(59_999), clock(3_661_000)]).toEqual(['0:00', '0:59', '1:01:01']);
  });
});
