import { writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Home } from '../cli/command.ts';
import { Listeners } from '../cli/listeners.ts';
import { httpResponse, responding } from '../fixed-responses.ts';

const home = new Home();
const listeners = new Listeners();
let port = 0;

const rules = `id: page-of-acme
name: The page of Acme
version: 1.0.0
type: evaluation
match: { logic: AND, rules: [{ field: http.title, operator: equals, value: Acme }, { field: http.status, operator: equals, value: 200 }] }
output: { severity: low, message: "Title {{value}}" }
`;

beforeAll(async () => {
  port = await listeners.serve(responding(() => httpResponse('200 OK', {}, '<title>Acme</title>')));
  writeFileSync(home.file('acme-rules.yaml'), rules);
  writeFileSync(home.file('bad-rules.yaml'), rules.replace('value: 200', 'value: many'));
});
afterAll(() => {
  listeners.close();
  home.remove();
});

const scan = (...args: string[]) =>
  home.run([
    'scan',
    '127.0.0.1',
    '--ports',
    String(port),
    '--no-discover',
    '--scan-type',
    'connect',
    '--format',
    'json',
    ...args,
  ]);

describe('rules of a file', () => {
  it('are evaluated in the scan that names them, and stand behind their findings', async () => {
    const { stdout, code, stderr } = await scan('--plugin', home.file('acme-rules.yaml'));
    expect(code, stderr).toBe(0);
    writeFileSync(home.file('result.json'), stdout);
    const [{ vulnerabilities }] = JSON.parse(stdout).results[0].ports;
    expect(vulnerabilities).toEqual([
      expect.objectContaining({
        id: 'page-of-acme',
        plugin: 'page-of-acme',
        evidence: 'Title Acme\nhttp.title: Acme\nhttp.status: 200',
        producer: { name: 'acme-rules', version: '1.0.0', sha256: expect.stringMatching(/^[0-9a-f]{64}$/) },
      }),
    ]);
  });

  it('are rejected with file, line and field before anything is sent', async () => {
    const { stdout, code, stderr } = await scan('--plugin', home.file('bad-rules.yaml'));
    expect([code, stdout]).toEqual([3, '']);
    expect(stderr).toContain('bad-rules.yaml:5: match.rules[1].value: must be a number');
  });

  it('can be tried on the result of a scan', async () => {
    const fired = await home.run(['plugin', 'test', home.file('acme-rules.yaml'), home.file('result.json')]);
    expect(fired.stdout).toBe(
      `127.0.0.1:${port}/tcp  page-of-acme  fired\n    Title Acme\n    http.title: Acme\n    http.status: 200\n1 of 1 evaluations fired\n`,
    );
    expect(fired.code).toBe(0);
  });

  it('say why they do not fire', async () => {
    writeFileSync(
      home.file('other.json'),
      JSON.stringify({ port: 80, attributes: { http: { status: 404, title: 'Acme\u001b[2J' } } }),
    );
    const { stdout, code } = await home.run([
      'plugin',
      'test',
      home.file('acme-rules.yaml'),
      home.file('other.json'),
      '--explain',
    ]);
    expect(stdout).toBe(
      [
        '192.0.2.1:80/tcp  page-of-acme  not fired',
        '  no  AND',
        '    no  http.title equals "Acme"; seen: Acme\\x1b[2J',
        '    no  http.status equals 200; seen: 404',
        '0 of 1 evaluations fired',
        '',
      ].join('\n'),
    );
    expect(code).toBe(1);
  });

  it('and samples that cannot be read end with an error of their own', async () => {
    const trial = (file: string, sample: string) =>
      home.run(['plugin', 'test', home.file(file), home.file(sample)]);
    expect(await trial('bad-rules.yaml', 'other.json')).toMatchObject({ code: 3, stdout: '' });
    expect(await trial('acme-rules.yaml', 'missing.json')).toMatchObject({ code: 2, stdout: '' });
    expect(await trial('acme-rules.yaml', 'acme-rules.yaml')).toMatchObject({ code: 2, stdout: '' });
    expect((await trial('other.json', 'other.json')).code).toBe(2);
  });
});
