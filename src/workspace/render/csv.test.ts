import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  anyText,
  extra,
  finding,
  head,
  host,
  hostileRows,
  plugin,
  port,
  stream,
  text,
} from '../../../test/result-rows.ts';
import type { ResultRow } from '../../domain/result.ts';
import { renderCsv } from './csv.ts';
import { renderJson } from './json.ts';

/** A strict RFC 4180 reader. */
function parseCsv(csv: string): string[][] {
  const records: string[][] = [];
  const cell = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/y;
  let record: string[] = [];
  while (cell.lastIndex < csv.length) {
    const match = cell.exec(csv);
    if (!match) throw new Error(`not RFC 4180 at the end of ${JSON.stringify(record)}`);
    record.push(match[1]?.replaceAll('""', '"') ?? match[2] ?? '');
    if (match[3] === '\r\n') record = records.push(record) ? [] : record;
  }
  return records;
}

describe('CSV', () => {
  const header =
    'host,port,protocol,state,service,version,product,cpe,vulnerability_ids,max_severity,banner,unidentified_reason,class,producers\r\n';

  it('of nothing is the header', async () => {
    expect(await text(renderCsv(stream([])))).toBe(header);
  });

  it('names each plugin behind a port and its findings once, and has no extra values', async () => {
    const other = { ...plugin, name: 'other' };
    const rows = [
      extra('a_key', 1),
      host,
      port(22, { producer: plugin }),
      { ...finding(22, 'a'), producer: other },
      { ...finding(22, 'b'), producer: plugin },
      port(23),
    ];
    const [, first, second, ...rest] = parseCsv(await text(renderCsv(stream(rows))));
    expect([first?.at(-1), second?.at(-1), rest]).toEqual(['my_plugin@1.2.3;other@1.2.3', '', []]);
  });

  it('has one record per port with its findings', async () => {
    const service = {
      name: 'ssh',
      product: 'OpenSSH',
      vendor: null,
      version: '9.2p1',
      cpe: 'cpe:2.3:a',
      confidence: 1,
    };
    const rows = [
      host,
      port(22, { service, banner: 'SSH-2.0-OpenSSH_9.2p1\r\n' }),
      finding(22, 'CVE-1', 'low'),
      finding(22, 'CVE-2', 'critical', { class: 'certain' }),
      port(80),
      finding(null, 'CVE-3'),
    ];
    expect(await text(renderCsv(stream(rows)))).toBe(
      `${header}192.168.1.10,22,tcp,open,ssh,9.2p1,OpenSSH,cpe:2.3:a,CVE-1;CVE-2,critical,SSH-2.0-OpenSSH_9.2p1,,likely;certain,\r\n` +
        '192.168.1.10,80,tcp,open,,,,,,,,,,\r\n',
    );
  });

  it('says why a service is not identified, also on a host that accepts every port', async () => {
    const bare = port(25, { reason: 'syn-ack-zero-window' });
    const ports = [
      port(22, { banner: 'SSH-2.0-x\r\n' }),
      port(23, { unidentified_reason: 'tarpit' }),
      port(24, { banner: '' }),
      port(53, { protocol: 'udp' }),
    ];
    const reasons = async (rows: ResultRow[]) =>
      parseCsv(await text(renderCsv(stream(rows))))
        .slice(1)
        .map((record) => [record[1], record.at(-3)].join(' '));
    expect(await reasons([host, ...ports, bare])).toEqual(['22 ', '23 tarpit', '24 ', '53 ', '25 unproven']);
    expect(await reasons([{ ...host, all_ports_open: true }, ...ports])).toEqual([
      '22 ',
      '23 tarpit',
      '24 unproven',
      '53 ',
    ]);
  });

  it.each([
    ['=cmd()', "'=cmd()"],
    ['+1', "'+1"],
    ['-1', "'-1"],
    ['@x', "'@x"],
    ['\tx', "'\tx"],
    ['\rx', '\\nx'],
    ['a "b", c', 'a "b", c'],
    ['two\r\nlines\nof\rtext \r\n', 'two\\nlines\\nof\\ntext'],
    ['esc\x1b[2J\x9b', 'esc\\x1b[2J\\x9b'],
    ['nul\0esc\x1b[2J\x9b', 'nul'],
    ['fill\u3164\u2800\u115f', 'fill\\u{3164}\\u{2800}\\u{115f}'],
    ['exe.\u202egpj', 'exe.\\u{202e}gpj'],
    [`marks${'\u0301'.repeat(6)}`, `marks${'\u0301'.repeat(4)}\\u{301}\\u{301}`],
    [
      'HTTP/1.1 200 OK\r\nDate: now\r\nServer: x\r\n\r\n<html>all of it</html>',
      'HTTP/1.1 200 OK\\nServer: x',
    ],
  ])('neutralises %j', async (banner, cell) => {
    const records = parseCsv(await text(renderCsv(stream([port(22, { banner })]))));
    expect(records[1]?.[10]).toBe(cell);
  });

  it('guards every cell a target can fill, and JSON gives the text back', async () => {
    const said = '=HYPERLINK("http://x","a, b")\r\n+1';
    const rows = hostileRows(said);
    const csv = await text(renderCsv(stream(rows)));
    const [, record] = parseCsv(csv);
    const cell = `'=HYPERLINK("http://x","a, b")\\n+1`;
    const port80 = [host.host, '80', 'tcp', cell, cell, cell, cell, cell, cell, 'critical', cell];
    expect(record).toEqual([...port80, '', 'likely', '']);
    const { results } = JSON.parse(await text(renderJson(head, stream(rows))));
    expect(results[0].ports[0]).toMatchObject({ banner: said, service: { product: said, version: said } });
  });

  it('parses back for any text of a target, one line a record, and no cell is a formula', async () => {
    await fc.assert(
      fc.asyncProperty(anyText(), anyText(), async (banner, version) => {
        const service = { name: 'x', product: version, vendor: null, version, cpe: null, confidence: 1 };
        const written = await text(renderCsv(stream([port(22, { banner, service }), port(23)])));
        const records = parseCsv(written);
        expect(records.map((cells) => cells.length)).toEqual([14, 14, 14]);
        expect(written.split(/\r\n|[\r\n\u2028\u2029]/)).toHaveLength(4);
        for (const cells of records) for (const cell of cells) expect(cell).not.toMatch(/^[=+\-@\t\r]/);
        expect(Buffer.from(written).toString()).toBe(written);
      }),
    );
  });
});
