import { createServer as createPages } from 'node:http';
import type { AddressInfo } from 'node:net';
import { SaxesParser } from 'saxes';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Home } from '../command.ts';
import { Listeners } from '../listeners.ts';

const home = new Home();
const listeners = new Listeners();
const ports: Record<'page' | 'moved' | 'ssh' | 'silent' | 'hostile', number> = {
  page: 0,
  moved: 0,
  ssh: 0,
  silent: 0,
  hostile: 0,
};
const body = `<html><head><title>Grafana 100%</title></head><body>${'page '.repeat(500)}</body></html>`;
/** A key exchange (RFC 4253, 7.1): its lists are not text for people. */
const keyExchange = Buffer.from('\0\0\x04\x14\x0a\x14curve25519-sha256,diffie-hellman', 'latin1');

const pages = createPages((request, response) => {
  const isMoved = request.socket.localPort === ports.moved;
  response.writeHead(isMoved ? 302 : 200, isMoved ? { location: 'https://192.0.2.1/login' } : {});
  response.end(isMoved ? '' : body);
});
const moved = createPages((request, response) => pages.emit('request', request, response));

/** What each format says of the same scan. */
let table = '';
let csv = '';
let xml = '';
beforeAll(async () => {
  const listen = async (server: typeof pages) => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return (server.address() as AddressInfo).port;
  };
  ports.page = await listen(pages);
  ports.moved = await listen(moved);
  ports.ssh = await listeners.greet(Buffer.concat([Buffer.from('SSH-2.0-Unheard_1.0 of\r\n'), keyExchange]));
  ports.silent = await listeners.serve(() => undefined);
  ports.hostile = await listeners.greet('220 \x1b[31mowned\x1b[0m %s%n%00 ]]> =1+1\r\n');
  const chosen = Object.values(ports).join(',');
  const scan = [
    'scan',
    '127.0.0.1',
    '--no-discover',
    '--ports',
    chosen,
    '--scan-type',
    'connect',
    '--timeout',
    '500ms',
  ];
  const scanned = await home.run(scan);
  expect(scanned.code, scanned.stderr).toBe(0);
  table = scanned.stdout;
  const list = JSON.parse((await home.run(['workspace', 'list', '--format', 'json'])).stdout);
  const { scan_id: id } = list.scans?.[0] ?? list[0];
  const exported = (format: string) => home.run(['workspace', 'export', id, '--format', format]);
  [csv, xml] = (await Promise.all(['csv', 'nmap'].map(exported))).map(({ stdout }) => stdout) as [
    string,
    string,
  ];
});
afterAll(() => {
  pages.close();
  moved.close();
  listeners.close();
  home.remove();
});

const rowOf = (port: number) => table.split('\n').find((line) => line.startsWith(`${port}/tcp`)) ?? '';
const recordOf = (port: number) =>
  csv.split('\r\n').find((line) => line.startsWith(`127.0.0.1,${port},`)) ?? '';

describe('EVIDENCE', () => {
  it('is what the row does not say yet, or that there is nothing', () => {
    expect(rowOf(ports.page)).toMatch(/ http .* "Grafana 100%"$/);
    expect(rowOf(ports.moved)).toMatch(/ to https:\/\/192\.0\.2\.1\/login$/);
    expect(rowOf(ports.ssh)).toMatch(/ ssh .* SSH-2\.0-Unheard_1\.0 of$/);
    expect(rowOf(ports.silent)).toMatch(/ open +(?:silent|not identified: timeout)$/);
    expect(rowOf(ports.hostile)).toContain(' 220 \\x1b[31mowned\\x1b[0m');
  });
});

describe('the banner in CSV', () => {
  it('is the readable part: no key exchange and no page', () => {
    expect(recordOf(ports.page)).toMatch(/,HTTP\/1\.1 200 OK,,,$/);
    expect(recordOf(ports.ssh)).toMatch(/,SSH-2\.0-Unheard_1\.0 of,,,$/);
    expect(recordOf(ports.hostile)).toContain(',220 \\x1b[31mowned\\x1b[0m %s%n%00 ]]> =1+1,');
  });
});

describe('nmap XML', () => {
  it('has titles and redirects as http-title in one script of a port, and no raw bytes', () => {
    const scripts = scriptsByPort(xml);
    expect(scripts[ports.page]).toBe('banner: HTTP/1.1 200 OK\nhttp-title: Grafana 100%');
    expect(scripts[ports.moved]).toContain('http-title: Did not follow redirect to https://192.0.2.1/login');
    expect(scripts[ports.ssh]).toBe('banner: SSH-2.0-Unheard_1.0 of');
    expect(scripts[ports.silent]).toBe('');
    expect(scripts[ports.hostile]).toBe('banner: 220 \\x1b[31mowned\\x1b[0m %s%n%00 ]]> =1+1');
  });
});

describe('--dry-run', () => {
  it('has a probable and a worst time, and what they are based on', async () => {
    const { code, stdout } = await home.run(['scan', '127.77.0.0/24', '-r', '1000', '--dry-run']);
    expect(code).toBe(0);
    expect(stdout).toMatch(
      /^probable {2}30,\d00 packets, \d+ s: 1 address in 10 is up; 1,000 packets\/s\nat most {3}51\d,\d{3} packets, 4 h .*: all are up and silent; 100 at a time wait 3 s$/m,
    );
  });
});

/** What the script of a port says, by port; throws for a second script, and for a document that is not well-formed. */
function scriptsByPort(document: string): Record<string, string> {
  const found: Record<string, string> = {};
  let port = '';
  const parser = new SaxesParser();
  parser.on('error', (error) => {
    throw error;
  });
  parser.on('opentag', ({ name, attributes }) => {
    if (name === 'port') {
      port = String(attributes['portid']);
      found[port] = '';
    }
    if (name !== 'script') return;
    expect(found[port]).toBe('');
    found[port] = String(attributes['output']);
  });
  parser.write(document).close();
  return found;
}
