import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Home } from '../cli/command.ts';
import { freePort } from '../cli/listeners.ts';
import { root } from '../program.ts';
import { blocksOf, readPage } from './page.ts';
import { Shell } from './shell.ts';
import { differences, runPage } from './transcript.ts';

const page = 'docs/troubleshooting.md';

describe('messages that commands print', () => {
  const home = new Home();
  const cwd = home.file('work');
  /** What stands on the page, and what stands for it here. */
  const here = new Map([
    ['10.0.0.0/8', '127.0.0.0/8'],
    ['/home/me/work', cwd],
    ['/home/me', home.path],
  ]);
  let shell: Shell;
  beforeAll(async () => {
    mkdirSync(cwd);
    writeFileSync(join(cwd, 'bad.yaml'), 'server:\n  bind: nowhere\nscaner: {rate: 500}\n');
    for (const port of ['8080', '8099']) here.set(port, String(await freePort()));
    shell = new Shell(home, {
      cwd,
      env: {
        SERVICE_SERVER__BIND: `127.0.0.1:${here.get('8080')}`,
        SERVICE_SERVER__API__AUTH: 'true',
      },
    });
    const reader =
      'portolan server token create --name reader --scopes scan:read --expiry 1d 2>/dev/null > reader.token';
    expect(await shell.run(`portolan server start -d && ${reader}`)).toMatchObject({ code: 0 });
  });
  afterAll(async () => {
    await shell.run('portolan server stop');
    await shell.close();
    home.remove();
  });

  it('are on the page', async () => {
    const blocks = await runPage(page, async ({ command }) => {
      const there = [...here].reduce((text, [written, own]) => text.replaceAll(written, own), command);
      // The server, which requires a token, is for the other commands.
      const alone = command.startsWith('portolan scan ') ? 'SERVICE_WORKSPACE__DIR=alone ' : '';
      const { output, code } = await shell.run(`${alone}${there}`);
      const back = [...here].reduce((text, [written, own]) => text.replaceAll(own, written), output);
      return {
        output: back.replaceAll(/\d+(?= on )/g, '4711').replaceAll(`on ${hostname()}`, 'on scanner'),
        code,
      };
    });
    expect(differences(page, blocks)).toEqual([]);
  });
});

describe('messages that need another machine to appear', () => {
  const sources = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'))
    // A text of several lines in the source is one text.
    .map((name) => readFileSync(join(root, 'src', name), 'utf8').replaceAll(/' \+\s+'/g, ''))
    .join('\n');
  const lines = blocksOf(readPage(page))
    .filter(({ language }) => language === 'text')
    .flatMap(({ text }) => text.trimEnd().split('\n'));

  it.each(lines)('"%s" stands in the sources', (line) => {
    expect(sources.includes(line)).toBe(true);
  });
});
