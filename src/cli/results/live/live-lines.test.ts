import { describe, expect, it } from 'vitest';
import type { PortRow, ResultRow, SummaryRow } from '../../../domain/result.ts';
import type { StageRecord } from '../../../domain/scan.ts';
import { followingWork, type LiveLines, liveLines } from './live-lines.ts';

const timestamp = '2026-01-02T03:04:05.000Z';
const later = '2026-01-02T03:04:06.000Z';
const service = { name: 'ssh', product: 'OpenSSH', vendor: null, version: '9.2p1', cpe: null, confidence: 1 };
const host: ResultRow = { type: 'host', timestamp, host: '192.0.2.10', state: 'up', latency_ms: 1 };
const summary = { type: 'summary', timestamp, host: null, live_hosts: 1, open_ports: 1 } as SummaryRow;

function port(number: number, fields: Partial<PortRow> = {}): PortRow {
  const place = { host: '192.0.2.10', port: number, protocol: 'tcp' as const };
  return { type: 'port', timestamp, ...place, state: 'open', reason: 'syn-ack', ...fields };
}

function stages(...names: string[]): StageRecord[] {
  return names.map((module_type) => ({ module_type, status: 'running' }) as StageRecord);
}

async function restOf(lines: LiveLines, rows: ResultRow[]): Promise<string[]> {
  const source = (async function* () {
    yield* rows;
  })();
  const found: string[] = [];
  for await (const line of lines.rest(source, summary)) found.push(line);
  return found;
}

describe('hostport', () => {
  it('names a port once, when it is open, and at the end what could not be written', async () => {
    const lines = liveLines('hostport');
    const udp = port(53, { protocol: 'udp' });
    const taken = [host, port(53), port(53, { service }), udp, port(9, { state: 'open|filtered' })];
    expect(taken.map((row) => lines.take(row))).toEqual(['', '192.0.2.10:53\n', '', '', '']);
    lines.skip(port(80));
    expect(await restOf(lines, [host, port(53), udp, port(80)])).toEqual(['192.0.2.10:80\n']);
  });
});

describe('list', () => {
  it('tells protocols apart and has its two frame lines', async () => {
    const lines = liveLines('list');
    expect(lines.head).toBe('#masscan\n');
    expect(lines.take(port(53, { protocol: 'udp' }))).toBe('open udp 53 192.0.2.10 1767323045\n');
    expect(await restOf(lines, [port(53), port(53, { protocol: 'udp' })])).toEqual([
      'open tcp 53 192.0.2.10 1767323045\n',
      '# end\n',
    ]);
  });
});

describe('jsonl', () => {
  const typesOf = (texts: string[]) =>
    texts.filter((text) => text !== '').map((text) => JSON.parse(text).type as string);

  it('has a host when it is found, a port once more with its service, and at the end what is new', async () => {
    const lines = liveLines('jsonl');
    const whole: ResultRow = { ...host, timestamp: later, device_type: 'server' };
    const identified = port(22, { service, banner: 'SSH' });
    const taken = [host, port(22), port(22, { banner: 'SSH' }), identified, whole, identified];
    const texts = taken.map((row) => lines.take(row));
    expect(typesOf(texts)).toEqual(['host', 'port', 'port']);
    expect(JSON.parse(texts[3] as string)).toMatchObject({ service, tls: null, fingerprints: [] });
    const rest = await restOf(lines, [whole, { ...identified, timestamp: later }]);
    expect(typesOf(rest)).toEqual(['host', 'summary']);
    expect(JSON.parse(rest[0] as string)).toMatchObject({ device_type: 'server', latency_ms: 1 });
  });

  it('completes a row from earlier ones of its identity', () => {
    const lines = liveLines('jsonl');
    lines.take(port(22));
    const enriched = { ...port(22, { service }), state: undefined, reason: undefined } as unknown as PortRow;
    expect(JSON.parse(lines.take(enriched))).toMatchObject({ state: 'open', reason: 'syn-ack', service });
  });

  it('takes the summary from the rows of a server, and writes no raw control character', async () => {
    const lines = liveLines('jsonl');
    expect(lines.take(port(22, { banner: '\x1b[2J\x9b', service }))).not.toMatch(/[\x1b\x9b]/);
    const source = (async function* (): AsyncGenerator<ResultRow> {
      yield summary;
    })();
    const rest: string[] = [];
    for await (const line of lines.rest(source, null)) rest.push(line);
    expect(typesOf(rest)).toEqual(['summary']);
  });
});

describe('csv', () => {
  const names = [
    'icmp_discovery',
    'syn_scanner',
    'banner_grabber',
    'fingerprint_coordinator',
    'json_reporter',
  ];
  /** @param read banners that the fingerprints come from, of two */
  const probing = (read: number) =>
    stages(...names).map((stage) => {
      const { module_type: name } = stage;
      return {
        ...stage,
        items_out: name === 'banner_grabber' ? 2 : 0,
        items_in: name === names[3] ? read : 0,
      };
    });

  it('has a record for a port once it is identified, every banner was read and nothing came for a second', async () => {
    const lines = liveLines('csv');
    lines.take(port(22));
    lines.follow(probing(2), 0);
    expect(lines.due(60_000)).toBe('');
    lines.take(port(22, { banner: 'SSH-2.0', unidentified_reason: 'timeout' }));
    lines.follow(probing(1), 0);
    expect(lines.due(60_000)).toBe('');
    lines.take(port(22, { service }));
    lines.follow(probing(2), 60_000);
    expect(lines.due(60_500)).toBe('');
    expect(lines.due(61_000)).toBe('192.0.2.10,22,tcp,open,ssh,9.2p1,OpenSSH,,,,SSH-2.0,timeout,,\r\n');
    lines.take(port(80));
    expect(await restOf(lines, [host, port(22, { service }), port(80)])).toEqual([
      '192.0.2.10,80,tcp,open,,,,,,,,,,\r\n',
    ]);
  });

  it('waits for nothing without service probes, and for the end with evaluations', () => {
    const lines = liveLines('csv');
    lines.take(port(22));
    lines.follow(stages('syn_scanner', 'cve_matcher'), 0);
    expect(lines.due(60_000)).toBe('');
    lines.follow(stages('syn_scanner'), 60_000);
    expect(lines.due(61_000)).not.toBe('');
  });
});

describe('followingWork', () => {
  it('takes modules that it does not know for evaluations', () => {
    expect(followingWork(stages('syn_scanner', 'my_plugin'))).toBe('findings');
    const skipped = [
      ...stages('syn_scanner'),
      { ...stages('cve_matcher')[0], status: 'skipped' } as StageRecord,
    ];
    expect(followingWork(skipped)).toBe('nothing');
  });
});
