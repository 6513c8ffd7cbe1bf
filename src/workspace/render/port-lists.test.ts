import { describe, expect, it } from 'vitest';
import type { PortRow, ResultRow } from '../../domain/result.ts';
import { renderHostPorts, renderPortList } from './port-lists.ts';

const timestamp = '2026-01-02T03:04:05.678Z';

function port(host: string, number: number, fields: Partial<PortRow> = {}): ResultRow {
  const place = { host, port: number, protocol: 'tcp' as const };
  return { type: 'port', timestamp, ...place, state: 'open', reason: 'syn-ack', ...fields };
}

const rows: ResultRow[] = [
  { type: 'host', timestamp, host: '192.0.2.10', state: 'up' },
  port('192.0.2.10', 53),
  port('192.0.2.10', 53, { protocol: 'udp', reason: 'udp-response' }),
  port('192.0.2.10', 161, { protocol: 'udp', state: 'open|filtered' }),
  port('2001:db8::1', 443),
];

async function textOf(render: (source: AsyncIterable<ResultRow>) => AsyncIterable<string>): Promise<string> {
  let text = '';
  const source = (async function* () {
    yield* rows;
  })();
  for await (const piece of render(source)) text += piece;
  return text;
}

describe('renderHostPorts', () => {
  it('names each open port once, IPv6 in brackets', async () => {
    expect(await textOf(renderHostPorts)).toBe('192.0.2.10:53\n[2001:db8::1]:443\n');
  });
});

describe('renderPortList', () => {
  it('is the list of masscan: state, protocol, port, address and seconds since 1970', async () => {
    expect(await textOf(renderPortList)).toBe(
      [
        '#masscan',
        'open tcp 53 192.0.2.10 1767323045',
        'open udp 53 192.0.2.10 1767323045',
        'open tcp 443 2001:db8::1 1767323045',
        '# end',
        '',
      ].join('\n'),
    );
  });
});
