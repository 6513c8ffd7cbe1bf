import { readFileSync, statSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { unpackTar } from 'modern-tar';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { Home } from './command.ts';
import { InProcessServer } from './in-process-server.ts';
import { Listeners } from './listeners.ts';

/** What a hostile service says: markup, a terminal command, a formula. */
const banner = '=<script>alert(1)</script>\x1b[2J\x9b\r\n';

const home = new Home();
const listeners = new Listeners();
const server = new InProcessServer();
let port = 0;
beforeAll(async () => {
  port = await listeners.greet(Buffer.from(banner, 'latin1'));
  await server.start();
});
afterAll(async () => {
  await server.dispose();
  listeners.close();
  home.remove();
});

const scanArgs = () => ['scan', '127.0.0.1', '--no-discover', '--ports', String(port), '--timeout', '1s'];

/** The beginning of each form, and what is in it of the port. */
const forms = [
  ['json', 'report.json', /^\{"scan_id":/],
  ['jsonl', 'report.jsonl', /^\{"type":"host"/],
  ['csv', 'report.csv', /^host,port,protocol,state/],
  ['yaml', 'report.yaml', /^scan_id: /],
  ['html', 'report.html', /^<!doctype html>/],
  ['pdf', 'report.pdf', /^%PDF-/],
  ['markdown', 'report.md', /^# /],
  ['nmap', 'report.xml', /^<\?xml version="1.0" encoding="UTF-8"\?>\n<!DOCTYPE nmaprun>/],
  ['sarif', 'report.sarif', /^\{"\$schema":/],
  ['text', 'report.txt', /^127\.0\.0\.1 /],
] as const;

/** Those that only files are told by; the others have their tests with the scans. */
const newForms: string[] = ['yaml', 'html', 'pdf', 'markdown', 'nmap', 'sarif'];

describe.each([
  ['here', () => [] as string[]],
  ['on a server', () => ['--server', server.url]],
])('a scan %s', { concurrent: true }, (placeName, place) => {
  it('is written in the format that the name of the file says', async () => {
    const written = async ([format, name, beginning]: (typeof forms)[number]) => {
      const file = home.file(`${placeName}-${name}`);
      const ended = await home.run([...scanArgs(), ...place(), '-o', file]);
      expect({ format, code: ended.code, stdout: ended.stdout }).toEqual({ format, code: 0, stdout: '' });
      const text = readFileSync(file, 'utf8');
      expect(text).toMatch(beginning);
      expect(statSync(file).mode & 0o777).toBe(0o600);
      if (format === 'pdf') return;
      expect(text).not.toMatch(/[^\P{Cc}\r\n]/u);
      if (format === 'html' || format === 'nmap') expect(text).not.toContain('<script>');
      if (format !== 'sarif') expect(text).toContain(String(port));
    };
    await Promise.all(forms.filter(([form]) => newForms.includes(form)).map(written));
  });

  it('prints YAML that means what the JSON says', async () => {
    const yaml = await home.run([...scanArgs(), ...place(), '--format', 'yaml']);
    const ofYaml = parse(yaml.stdout);
    const json = await home.run(['workspace', 'export', ofYaml.scan_id, ...place(), '--format', 'json']);
    const ofJson = JSON.parse(json.stdout);
    expect(Object.keys(ofYaml)).toEqual(Object.keys(ofJson));
    expect(ofYaml).toEqual(ofJson);
    expect(ofYaml.results[0].ports[0].banner).toContain('<script>');
    expect(ofJson.summary.ports).toEqual({ tcp: String(port) });
  });

  it('says in nmap XML with which command and ports it was made', async () => {
    const { stdout } = await home.run([...scanArgs(), ...place(), '--format', 'nmap']);
    expect(stdout).toContain(
      `\n<scaninfo type="connect" protocol="tcp" numservices="1" services="${port}"/>\n`,
    );
    expect(stdout).toMatch(/ args="portolan scan 127\.0\.0\.1 [^"]{0,200}--no-discover --timeout 1s"/);
    expect(stdout).toContain(` --ports ${port} `);
    expect(stdout).toMatch(/<host starttime="\d{10}" endtime="\d{10}">/);
  });
});

describe('workspace export', { concurrent: true }, () => {
  let scanId = '';
  let remoteId = '';
  beforeAll(async () => {
    const ended = await home.run([...scanArgs(), '--format', 'json']);
    scanId = JSON.parse(ended.stdout).scan_id;
    remoteId = await server.submit({
      targets: ['127.0.0.1'],
      ports: String(port),
      options: { discover: false, timeout: '1s' },
    });
    await server.waitForEnd(remoteId);
  });

  const exported = (place: 'here' | 'there', ...args: string[]) =>
    home.run([
      'workspace',
      'export',
      ...(place === 'here' ? [scanId] : [remoteId, '--server', server.url]),
      ...args,
    ]);

  it.each(['here', 'there'] as const)(
    'gives every format of a scan %s',
    async (place) => {
      const inForm = async ([format, , beginning]: (typeof forms)[number]) => {
        const ended = await exported(place, '--format', format);
        expect({ format, code: ended.code, stderr: ended.stderr }).toEqual({ format, code: 0, stderr: '' });
        expect(ended.stdout).toMatch(beginning);
      };
      await Promise.all(forms.map(inForm));
      expect((await exported(place)).stdout).toMatch(/^\{"scan_id":/);
    },
    60_000,
  );

  it('of a scan that is compared tells the report what changed', async () => {
    for (const place of [[], ['--server', server.url]]) {
      const baseline = place.length === 0 ? scanId : remoteId;
      const file = home.file(`compared-${place.length}.md`);
      const scan = await home.run([...scanArgs(), ...place, '--compare-with', baseline, '-o', file]);
      expect(scan).toMatchObject({ code: 0, stdout: expect.stringContaining(baseline) });
      const id = /^(\S+) (?:\(.*?\) )?since /m.exec(scan.stdout)?.[1] ?? '';
      const args = ['--format', 'markdown', '--against', baseline, ...place];
      const exported = await home.run(['workspace', 'export', id, ...args]);
      const plain = await home.run(['workspace', 'export', id, '--format', 'markdown', ...place]);
      const withoutTime = (text: string) => text.replaceAll(/\d\d:\d\d(:\d\d)?/g, '');
      expect(withoutTime(readFileSync(file, 'utf8'))).toBe(withoutTime(exported.stdout));
      expect(exported.stdout).toContain(baseline);
      expect(plain.stdout).not.toContain(baseline);
    }
  });

  it.each([
    ['here', ['--include-artifacts']],
    ['here', ['--format', 'tar.gz']],
    ['there', ['--include-artifacts']],
  ] as const)('writes the whole scan %s with %j', async (place, args) => {
    const file = home.file(`${[place, ...args].join('')}.tar.gz`);
    expect(await exported(place, ...args, '-o', file)).toMatchObject({ code: 0, stdout: '' });
    const names = (await unpackTar(gunzipSync(readFileSync(file)))).map(({ header }) => header.name);
    const id = place === 'here' ? scanId : remoteId;
    expect(names).toEqual(expect.arrayContaining([`${id}/request.json`, `${id}/status.json`]));
    expect(names.every((name) => name.startsWith(`${id}/`))).toBe(true);
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  it.each([
    ['an unknown format', ['--format', 'exe'], 2, /unknown format "exe"/],
    ['another paper', ['-o', 'x.pdf', '--paper', 'a3'], 2, /--paper/],
    [
      'a template for programs',
      ['--format', 'csv', '--template', 'x'],
      2,
      /--template is only for html, pdf/,
    ],
    ['an unknown template', ['-o', 'x.pdf', '--template', 'corporate'], 2, /corporate/],
    ['an unknown earlier scan', ['-o', 'x.html', '--against', '20261006-143022-a1b2c3'], 1, /no such scan/],
    ['a fix that is no number', ['-o', 'x.md', '--fix', 'two'], 2, /--fix/],
    ['files in another format', ['--include-artifacts', '--format', 'json'], 2, /tar\.gz/],
  ])('refuses %s', async (_what, args, code, reason) => {
    const ended = await exported('here', ...args);
    expect(ended.code).toBe(code);
    expect(ended.stderr).toMatch(reason);
  });

  it('shows the results of a scan on a server without a byte for the terminal', async () => {
    for (const format of ['text', 'json']) {
      const show = [
        'workspace',
        'show',
        remoteId,
        '--server',
        server.url,
        '--show-results',
        '--format',
        format,
      ];
      const ended = await home.run(show);
      expect(ended.code).toBe(0);
      expect(ended.stdout).toContain('<script>');
      expect(ended.stdout).not.toMatch(/[^\P{Cc}\n]/u);
    }
  });
});
