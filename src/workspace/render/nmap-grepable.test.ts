import { expect, it } from 'vitest';
import { host, port, stream, text } from '../../../test/result-rows.ts';
import { renderNmapGrepable } from './nmap-grepable.ts';

it('counts a silent UDP port that is listed no second time as ignored', async () => {
  const silent = (number: number) => port(number, { protocol: 'udp', state: 'open|filtered' });
  const linesOf = async (filtered: number) => {
    const counted = { ...host, port_counts: { open: 1, closed: 1, filtered, not_tried: 0 } };
    const rows = [counted, port(4), silent(161), silent(162)];
    return (await text(renderNmapGrepable(stream(rows), null))).split('\n');
  };
  const ports = 'Ports: 4/open/tcp/////, 161/open|filtered/udp//snmp///, 162/open|filtered/udp//snmptrap///';
  expect(await linesOf(5)).toContain(`Host: 192.168.1.10 ()\t${ports}\tIgnored State: filtered (3)`);
  expect(await linesOf(2)).toContain(`Host: 192.168.1.10 ()\t${ports}\tIgnored State: closed (1)`);
});
