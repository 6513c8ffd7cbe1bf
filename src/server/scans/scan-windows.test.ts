import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { loadConfig } from '../../config/load.ts';
import type { BlackoutWindow } from '../../domain/time/scan-calendar.ts';
import { ScanWindows } from './scan-windows.ts';

const opened: ScanWindows[] = [];
beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  for (const windows of opened.splice(0)) windows.close();
  vi.useRealTimers();
});

/** The state changes that the gate received. */
function follow(flags: Record<string, unknown>, now: string) {
  vi.setSystemTime(new Date(now));
  const { config } = loadConfig({ env: { HOME: '/none' }, systemFile: '/none/c.yaml', flags });
  const turns: string[] = [];
  const logged: string[] = [];
  const gate = {
    setClosure: (closure: BlackoutWindow | null) => {
      const state = closure ? 'closed' : 'open';
      if (!turns.at(-1)?.startsWith(state)) turns.push(`${state} ${new Date().toISOString().slice(0, 19)}`);
    },
  };
  const windows = new ScanWindows(config, gate, { info: (text: unknown) => void logged.push(String(text)) });
  opened.push(windows);
  windows.start();
  return { config, windows, turns, logged };
}

const nights = { 'scanner.windows': [{ hours: '22:00-06:00', zone: 'Europe/Berlin' }] };
const holidays = [{ from: '2026-12-24', to: '2026-12-26', reason: 'holidays', zone: 'Europe/Berlin' }];

describe('the windows of scans', () => {
  it('open and close to the second, over the night in which clocks change', async () => {
    const { turns, logged } = follow(nights, '2027-10-30T19:30:00Z');
    await vi.advanceTimersByTimeAsync(26 * 3_600_000);
    expect(turns).toEqual([
      'closed 2027-10-30T19:30:00',
      'open 2027-10-30T20:00:00',
      'closed 2027-10-31T05:00:00',
      'open 2027-10-31T21:00:00',
    ]);
    expect(logged).toHaveLength(4);
    expect(logged[0]).toMatch(/^scans wait for their window: .*scans resume at 2027-10-30T20:00:00\.000Z/);
    expect(logged[1]).toBe('scan window open');
  });

  it('are closed in a freeze, also at the start of a server within it', async () => {
    const flags = { ...nights, 'scanner.freeze': holidays };
    const { turns, logged } = follow(flags, '2026-12-25T00:30:00Z');
    await vi.advanceTimersByTimeAsync(48 * 3_600_000);
    expect(turns).toEqual(['closed 2026-12-25T00:30:00', 'open 2026-12-26T23:00:00']);
    expect(logged[0]).toContain('holidays');
  });

  it('notice within 30 s that the clock has jumped', async () => {
    const { turns } = follow(nights, '2026-10-07T12:00:00Z');
    vi.setSystemTime(new Date('2026-10-07T23:00:00Z'));
    await vi.advanceTimersByTimeAsync(30_000);
    vi.setSystemTime(new Date('2026-10-07T12:00:00Z'));
    await vi.advanceTimersByTimeAsync(30_000);
    expect(turns.map((turn) => turn.split(' ')[0])).toEqual(['closed', 'open', 'closed']);
  });

  it('follow changed settings at once', () => {
    const { config, windows, turns } = follow({}, '2026-12-25T12:00:00Z');
    config.scanner.freeze = [{ from: '2026-12-25', to: '2026-12-25', zone: null, reason: null }];
    windows.renew();
    config.scanner.freeze = [];
    windows.renew();
    expect(turns.map((turn) => turn.split(' ')[0])).toEqual(['open', 'closed', 'open']);
  });

  it('are in queue.timezone when they name no zone', () => {
    const flags = { 'scanner.windows': [{ hours: '08:00-09:00' }], 'queue.timezone': 'Asia/Tokyo' };
    expect(follow(flags, '2026-10-11T23:30:00Z').turns[0]).toMatch(/^open/);
    expect(follow(flags, '2026-10-11T08:30:00Z').turns[0]).toMatch(/^closed/);
  });
});

describe('scanner.windows and scanner.freeze', () => {
  it.each([
    [{ 'scanner.windows': [{}] }, 'scanner.windows[0].hours: required'],
    [{ 'scanner.windows': [{ hours: '9-17' }] }, 'scanner.windows[0].hours: must be hours such as'],
    [{ 'scanner.windows': [{ hours: '09:00-09:00' }] }, 'scanner.windows[0].hours: must not start and end'],
    [
      { 'scanner.windows': [{ hours: '09:00-10:00', days: 'monday' }] },
      'scanner.windows[0].days: must be days',
    ],
    [{ 'scanner.windows': [{ hours: '09:00-10:00', zone: 'Mars' }] }, 'scanner.windows[0].zone: must be'],
    [{ 'scanner.freeze': [{ from: '2026-12-24' }] }, 'scanner.freeze[0].to: required'],
    [
      { 'scanner.freeze': [...holidays, { from: '2026-02-30', to: '2026-03-01' }] },
      'scanner.freeze[1].from: is not a valid date',
    ],
    [
      { 'scanner.freeze': [{ from: '2026-12-26', to: '2026-12-24' }] },
      'scanner.freeze[0].to: must be after from',
    ],
  ])('%j is refused', (flags, problem) => {
    const load = () => loadConfig({ env: { HOME: '/none' }, systemFile: '/none/c.yaml', flags });
    expect(load).toThrow(problem);
  });
});
