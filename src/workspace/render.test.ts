import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { noFindings } from '../domain/finding.ts';
import type { HostRow, PortRow, ResultRow, SummaryRow, VulnerabilityRow } from '../domain/result.ts';
import { type ResultHead, renderCsv, renderJson, renderJsonl } from './render.ts';

const timestamp = '2026-10-06T14:31:40.520Z';

const head: ResultHead = {
  scan_id: '20261006-143022-a1b2c3',
  timestamp,
  status: 'completed',
  partial: false,
  targets: ['192.168.1.0/24'],
  summary: { live_hosts: 1 },
  warnings: [],
};

const summary: SummaryRow = {
  type: 'summary',
  timestamp,
  host: null,
  scan_id: head.scan_id,
  status: 'completed',
  partial: false,
  live_hosts: 1,
  open_ports: 2,
  vulnerabilities: 1,
  addresses_scanned: 254,
  excluded: 0,
  severity_counts: noFindings(),
  duration_seconds: 77.5,
  catalogue_version: '2026-10-05',
};

const host: HostRow = { type: 'host', timestamp, host: '192.168.1.10', state: 'up', latency_ms: 0.42 };

function port(number: number, more: Partial<PortRow> = {}): PortRow {
  const { host: address } = host;
  return {
    type: 'port',
    timestamp,
    host: address,
    port: number,
    protocol: 'tcp',
    state: 'open',
    reason: 'syn-ack',
    ...more,
  };
}

function finding(
  number: number | null,
  id: string,
  severity: 'critical' | 'high' | 'low' = 'high',
): VulnerabilityRow {
  const protocol = number === null ? null : 'tcp';
  const vulnerability = { id, severity } as VulnerabilityRow['vulnerability'];
  return { type: 'vulnerability', timestamp, host: host.host, port: number, protocol, vulnerability };
}

async function* stream(rows: ResultRow[]): AsyncGenerator<ResultRow> {
  yield* rows;
}

async function text(pieces: AsyncIterable<string>): Promise<string> {
  let all = '';
  for await (const piece of pieces) all += piece;
  return all;
}

async function json(rows: ResultRow[], pretty = false) {
  return JSON.parse(await text(renderJson(head, stream(rows), pretty)));
}

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

describe('JSON', () => {
  it('nests ports in hosts and findings in ports, every field present', async () => {
    const data = await json([
      {
        type: 'error',
        timestamp,
        host: null,
        target: 'nohost',
        code: 'resolve_failed',
        message: 'm',
        node: null,
      },
      host,
      port(22, { banner: 'SSH-2.0', service: null }),
      finding(22, 'CVE-1'),
      port(443, { truncated: true }),
      finding(null, 'CVE-2'),
    ]);
    expect(data).toEqual({
      ...head,
      compliance: [],
      errors: [{ target: 'nohost', code: 'resolve_failed', message: 'm', node: null }],
      results: [
        {
          host: '192.168.1.10',
          hostnames: [],
          state: 'up',
          latency_ms: 0.42,
          mac: null,
          vendor: null,
          os: null,
          device_type: null,
          port_counts: null,
          all_ports_open: false,
          ports: [
            portObject(22, { banner: 'SSH-2.0', vulnerabilities: [{ id: 'CVE-1', severity: 'high' }] }),
            portObject(443, { truncated: true }),
          ],
          vulnerabilities: [{ id: 'CVE-2', severity: 'high' }],
        },
      ],
    });
  });

  function portObject(number: number, more: object): object {
    return {
      port: number,
      protocol: 'tcp',
      state: 'open',
      reason: 'syn-ack',
      service: null,
      banner: null,
      banner_b64: null,
      truncated: false,
      tls: null,
      fingerprints: [],
      attributes: {},
      vulnerabilities: [],
      ...more,
    };
  }

  it('loses no port without a host row and no finding without a port row', async () => {
    const data = await json([port(22), finding(80, 'CVE-1'), { ...port(1), host: '192.168.1.11' }]);
    expect(
      data.results.map((entry: { host: string; ports: [] }) => [entry.host, entry.ports.length]),
    ).toEqual([
      ['192.168.1.10', 1],
      ['192.168.1.11', 1],
    ]);
    expect(data.results[0].vulnerabilities).toHaveLength(1);
  });

  it('of nothing is a whole document', async () => {
    expect(await json([])).toEqual({ ...head, compliance: [], errors: [], results: [] });
  });

  it('says the same when indented', async () => {
    const rows = [
      host,
      port(22, { attributes: { a: { b: [1, '\n'] } } }),
      finding(22, 'A'),
      finding(null, 'B'),
      port(80),
    ];
    const pretty = await text(renderJson(head, stream(rows), true));
    expect(JSON.parse(pretty)).toEqual(await json(rows));
    expect(pretty).toBe(`${JSON.stringify(JSON.parse(pretty), null, 2)}\n`);
  });

  it('comes in pieces, however large it is', async () => {
    const rows = Array.from({ length: 3000 }, (_, i) => port(i, { banner: 'x'.repeat(100) }));
    const sizes: number[] = [];
    for await (const piece of renderJson(head, stream(rows))) sizes.push(piece.length);
    expect(sizes.length).toBeGreaterThan(5);
    expect(Math.max(...sizes)).toBeLessThan(70_000);
  });

  it('is valid UTF-8 for any text of a target', async () => {
    await fc.assert(
      fc.asyncProperty(anyText(), async (banner) => {
        const written = await text(renderJson(head, stream([host, port(22, { banner })])));
        expect(Buffer.from(written).toString()).toBe(written);
        expect(JSON.parse(written).results[0].ports[0].banner).toBe(banner.toWellFormed());
      }),
    );
  });
});

describe('JSONL', () => {
  it('is one complete object a line, the summary last', async () => {
    const lines = (await text(renderJsonl(stream([host, port(22)]), summary))).split('\n');
    expect(lines.pop()).toBe('');
    expect(lines.map((line) => JSON.parse(line).type)).toEqual(['host', 'port', 'summary']);
    expect(JSON.parse(lines[1] as string)).toMatchObject({
      service: null,
      banner: null,
      tls: null,
      fingerprints: [],
    });
    expect(lines[2]).toMatch(/^\{"type":"summary","timestamp":"[^"]+","host":null,/);
  });

  it('keeps one record one line for any text of a target', async () => {
    await fc.assert(
      fc.asyncProperty(anyText(), anyText(), async (banner, name) => {
        const rows: ResultRow[] = [
          { ...host, hostnames: [name] },
          port(22, { banner, attributes: { [name]: banner } }),
        ];
        const written = await text(renderJsonl(stream(rows), summary));
        const lines = written.split(/\r\n|[\n\r\u2028\u2029]/);
        expect(lines).toHaveLength(4);
        expect(Buffer.from(written).toString()).toBe(written);
        expect(written).not.toMatch(/(?<!\\)(?:\\\\)*\\ud[89a-f]/);
        expect(JSON.parse(lines[1] as string).banner).toBe(banner.toWellFormed());
      }),
    );
  });
});

describe('CSV', () => {
  const header =
    'host,port,protocol,state,service,version,product,cpe,vulnerability_ids,max_severity,banner\r\n';

  it('of nothing is the header', async () => {
    expect(await text(renderCsv(stream([])))).toBe(header);
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
      finding(22, 'CVE-2', 'critical'),
      port(80),
      finding(null, 'CVE-3'),
    ];
    expect(await text(renderCsv(stream(rows)))).toBe(
      `${header}192.168.1.10,22,tcp,open,ssh,9.2p1,OpenSSH,cpe:2.3:a,CVE-1;CVE-2,critical,SSH-2.0-OpenSSH_9.2p1\r\n` +
        '192.168.1.10,80,tcp,open,,,,,,,\r\n',
    );
  });

  it.each([
    ['=cmd()', "'=cmd()"],
    ['+1', "'+1"],
    ['-1', "'-1"],
    ['@x', "'@x"],
    ['\tx', "'\tx"],
    ['\rx', "'\\nx"],
    ['a "b", c', 'a "b", c'],
    ['two\r\nlines\nof\rtext \r\n', 'two\\nlines\\nof\\ntext'],
    ['nul\0esc\x1b[2J\x9b', 'nul\\x00esc\\x1b[2J\\x9b'],
  ])('neutralises %j', async (banner, cell) => {
    const records = parseCsv(await text(renderCsv(stream([port(22, { banner })]))));
    expect(records[1]?.at(-1)).toBe(cell);
  });

  it('parses back for any text of a target, one line a record, and no cell is a formula', async () => {
    await fc.assert(
      fc.asyncProperty(anyText(), anyText(), async (banner, version) => {
        const service = { name: 'x', product: version, vendor: null, version, cpe: null, confidence: 1 };
        const written = await text(renderCsv(stream([port(22, { banner, service }), port(23)])));
        const records = parseCsv(written);
        expect(records.map((cells) => cells.length)).toEqual([11, 11, 11]);
        expect(written.split(/\r\n|[\r\n\u2028\u2029]/)).toHaveLength(4);
        for (const cells of records) for (const cell of cells) expect(cell).not.toMatch(/^[=+\-@\t\r]/);
        expect(Buffer.from(written).toString()).toBe(written);
      }),
    );
  });
});

/** Everything that was ever trouble: formulas, quotes, line breaks of all kinds, controls, half surrogates. */
function anyText(): fc.Arbitrary<string> {
  const trouble = [
    '=',
    '+',
    '-',
    '@',
    '\t',
    '\r',
    '\n',
    '"',
    ',',
    ';',
    '\0',
    '\x1b',
    '\x9b',
    '\u2028',
    '\u2029',
  ];
  const more = ['\ud800', '\udc00', '\\', '\\ud800', '\u{1f600}', 'a', ' ', '__proto__', '<script>'];
  return fc.array(fc.constantFrom(...trouble, ...more), { maxLength: 12 }).map((parts) => parts.join(''));
}
