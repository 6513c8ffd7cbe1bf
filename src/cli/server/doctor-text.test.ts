import { expect, it } from 'vitest';
import { plainStyle } from '../terminal/draw/style.ts';
import type { CheckResult } from './doctor-checks.ts';
import { doctorText } from './doctor-text.ts';

const ok = (name: string): CheckResult => ({ name, status: 'ok', message: 'fine', remedy: null });
const raw: CheckResult = {
  name: 'raw_sockets',
  status: 'warn',
  message: 'CAP_NET_RAW is missing: ports by connect, discovery by TCP',
  remedy: 'sudo portolan ...; in a service AmbientCapabilities=CAP_NET_RAW',
};
const disk: CheckResult = { name: 'disk', status: 'fail', message: 'full', remedy: 'free space' };
const checks = [...['node', 'interfaces', 'routes', 'clock', 'open_files', 'resolver'].map(ok), raw, disk];

it('lacks come first with what to try, what is well is one line', () => {
  expect(doctorText(checks, plainStyle, false)).toBe(
    [
      'fail  disk         full',
      '      try          free space',
      'warn  raw packets  CAP_NET_RAW is missing: ports by connect, discovery by TCP',
      '      try          sudo portolan ...; in a service AmbientCapabilities=CAP_NET_RAW',
      'ok    6 more       node, interfaces, routes, clock, open files, ... (-v)',
      '',
    ].join('\n'),
  );
});

it('each check has its line with -v', () => {
  const lines = doctorText(checks, plainStyle, true).trimEnd().split('\n');
  expect(lines).toHaveLength(checks.length + 2);
  expect(lines.at(-1)).toBe('ok    resolver     fine');
});

it('nothing but what is well is one line', () => {
  expect(doctorText(checks.slice(0, 2), plainStyle, false)).toBe('ok    2 checks  node, interfaces (-v)\n');
});

it('in a terminal messages are broken between words, what to try is whole', () => {
  const style = { ...plainStyle, columns: 60, terminal: true };
  expect(doctorText([raw], style, false)).toBe(
    [
      'warn  raw packets  CAP_NET_RAW is missing: ports by connect,',
      '                   discovery by TCP',
      '      try          sudo portolan ...; in a service AmbientCapabilities=CAP_NET_RAW',
      '',
    ].join('\n'),
  );
});
