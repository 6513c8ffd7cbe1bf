import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Home } from '../cli/command.ts';
import { freePort } from '../cli/listeners.ts';
import { blocksOf, readPage } from './page.ts';
import { Shell } from './shell.ts';

const page = readPage('README.md');
const blocks = blocksOf(page).filter(({ language }) => language === 'sh');

/** Examples on the page by what stands for them here: nothing leaves this machine. */
const equivalents: [RegExp, string][] = [
  [/192\.0\.2\.0\/24/g, '127.0.77.0/30'],
  [/192\.0\.2\.7/g, '127.0.77.7'],
  [/db\.example\.net/g, '127.0.77.1'],
];
/** Would take two minutes: only planned. */
const tooLong = /--ports all/;

/** Commands of a block: lines that end with a backslash go on, comments are none. */
function commandsOf(text: string): string[] {
  const lines = text.replaceAll('\\\n', ' ').split('\n');
  return lines.map((line) => line.replace(/(^|\s)# .*$/, '').trim()).filter((line) => line !== '');
}

it('is at most 150 lines long', () => {
  expect(page.split('\n').length).toBeLessThanOrEqual(150);
});

describe('the two commands', () => {
  const commands = blocks
    .filter(({ heading }) => heading === 'Two commands')
    .flatMap(({ text }) => commandsOf(text));

  it('are npm ci with npm start and with npm test', () => {
    expect(commands).toEqual(['npm ci && npm start', 'npm ci && npm test']);
  });

  it('run scripts that exist', () => {
    const { scripts } = JSON.parse(readPage('package.json')) as { scripts: Record<string, string> };
    expect(scripts['start']).toBe('bin/portolan server start --first-scan');
    expect(scripts['test']).toBeDefined();
  });
});

describe('the figures', () => {
  const bench = readPage('bench/README.md');
  /** What the page claims, and the row of the measurement. */
  const claims: Record<string, string> = {
    'took 23 s the first open port was on the event stream after 0.65 to 1.04 s':
      '| first open port on the event stream | 0.65 s | 0.68 s | 1.04 s | <= 2 s |',
    'off by less than 0.05 %': '| R1 | error of the rate | 0.00042 | <= 0.005 | met |',
    'Of 59 real services 57 products were named rightly and none wrongly':
      "| portolan --profile deep | 57 (4 by the service's name) | 0 | 0 |",
    '`nmap -sV` named 48 rightly and 3 wrongly': "| nmap -sV | 48 (11 by the service's name) | 3 | 3 |",
    'Of 148 services that nobody had tuned it to, 86 were right at first sight, and 45 with `nmap -sV`':
      '| run-time systems, proxies, agents, exporters, on odd ports too | 148 | 86 | 130 | 45, 16 |',
  };

  it.each(Object.entries(claims))('%s', (claim, row) => {
    expect(page.replaceAll('\n', ' ')).toContain(claim);
    expect(bench).toContain(row);
  });
});

describe('the other commands end with 0', () => {
  const home = new Home();
  let shell: Shell;
  let bind: string;
  beforeAll(async () => {
    const cwd = home.file('work');
    mkdirSync(cwd);
    writeFileSync(join(cwd, 'hosts.txt'), '127.0.77.1\n127.0.77.7\n');
    bind = `127.0.0.1:${await freePort()}`;
    const settings = { SERVICE_SERVER__BIND: bind, SERVICE_SCANNER__RATE: '20000' };
    shell = new Shell(home, { cwd, env: settings });
  });
  afterAll(async () => {
    await shell.run('portolan server stop');
    await shell.close();
    home.remove();
  });

  const others = blocks.filter(({ heading }) => heading !== 'Two commands');
  it.each(others.flatMap(({ text }) => commandsOf(text)))('%s', async (written) => {
    const here = equivalents.reduce((now, [example, own]) => now.replace(example, own), written);
    const command = here.replaceAll('127.0.0.1:8080', bind) + (tooLong.test(here) ? ' --dry-run' : '');
    const printed = await shell.run(command);
    expect(printed.code, printed.output).toSatisfy(isRight(command));
    // curl ends with 0 whatever the server responds.
    if (command.startsWith('curl')) expect(printed.output).toContain('{"data":{"scan_id":');
  });
});

/** A scan after which something may have changed ends with 8. */
function isRight(command: string): (code: number) => boolean {
  const allowed = command.includes('--fail-on-change') ? [0, 8] : [0];
  return (code) => allowed.includes(code);
}
