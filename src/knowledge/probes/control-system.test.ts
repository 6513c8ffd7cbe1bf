import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import {
  controlPorts,
  controlProbeForPort,
  controlProbes,
  isControlPort,
  isControlService,
} from './control-system.ts';
import { isUntouchable, tlsPorts } from './probes.ts';

const page = readFileSync(new URL('../../../docs/probes.md', import.meta.url), 'utf8');
const section = page.slice(page.indexOf('## Control systems and printers'));

it('the page about probes lists every port of a control system', () => {
  const listed = new Set(section.match(/\b\d{3,5}\b/g)?.map(Number));
  expect([...controlPorts].filter((port) => !listed.has(port))).toEqual([]);
});

it('every probe of a control system has a port of the list, and no port with TLS or of a printer is in it', () => {
  for (const port of controlProbes.flatMap(({ ports }) => ports)) expect(isControlPort(port)).toBe(true);
  for (const port of controlPorts)
    expect([port, tlsPorts.has(port), isUntouchable(port)]).toEqual([port, false, false]);
});

it('a port without a harmless request has no probe', () => {
  expect(controlProbeForPort(502)?.name).toBe('modbus');
  expect(controlProbeForPort(2222)).toBeNull();
  expect([isControlService('dnp3'), isControlService('ssh'), isControlService(null)]).toEqual([
    true,
    false,
    false,
  ]);
});

it('a request to a control system is one message', () => {
  for (const { name, steps } of controlProbes) expect([name, steps.length]).toEqual([name, 1]);
});
