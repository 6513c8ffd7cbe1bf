import { mkdirSync } from 'node:fs';
import { afterAll, describe, expect, it } from 'vitest';
import { Home } from '../cli/command.ts';
import { freePort } from '../cli/listeners.ts';
import { Shell } from './shell.ts';
import { differences, runPage } from './transcript.ts';

const page = 'docs/tutorial.md';
/** All commands of the page, beside much other work. */
const longestRunMs = 600_000;

describe('docs/tutorial.md', () => {
  const home = new Home();
  let shell: Shell | null = null;
  afterAll(async () => {
    await shell?.run('portolan server stop; kill $(cat http.pid)');
    await shell?.close();
    home.remove();
  });

  it('prints what the page says', { timeout: longestRunMs }, async () => {
    /** Ports of the page, and free ones in their place. */
    const ports = new Map<string, string>();
    for (const port of ['8000', '8001', '8080']) ports.set(port, String(await freePort()));
    const there = (text: string) => replaceAll(text, [...ports]);
    const back = (text: string) =>
      replaceAll(
        text,
        [...ports].map(([written, own]) => [own, written]),
      );

    const cwd = home.file('work');
    mkdirSync(cwd);
    shell = new Shell(home, {
      cwd,
      env: {
        SERVICE_SERVER__BIND: there('127.0.0.1:8080'),
        // The page waits for 30 s.
        SERVICE_ALERTS__INTERVAL: '1s',
      },
    });
    const { run } = shell;
    const blocks = await runPage(page, async ({ command }) => {
      if (command === 'portolan alert list') await untilFiring(there('http://127.0.0.1:8080'));
      const { output, code } = await run.call(shell, there(command));
      const served = /http\.server (\d+)/.exec(there(command))?.[1];
      if (served) await untilServed(`http://127.0.0.1:${served}`);
      return { output: back(output), code };
    });
    expect(differences(page, blocks)).toEqual([]);
    const failed = blocks.flatMap(({ steps }) => steps.filter(({ printed }) => printed.code !== 0));
    expect(failed).toEqual([]);
  });
});

function replaceAll(text: string, pairs: string[][]): string {
  return pairs.reduce((now, [from, to]) => now.replace(new RegExp(`\\b${from}\\b`, 'g'), to ?? ''), text);
}

async function untilFiring(url: string): Promise<void> {
  const isFiring = async () => (await (await fetch(`${url}/api/v1/alerts`)).text()).includes('"firing"');
  await expect.poll(isFiring).toBe(true);
}

/** Python begins in the background. */
async function untilServed(url: string): Promise<void> {
  const status = async () => (await fetch(url).catch(() => null))?.status;
  await expect.poll(status).toBe(200);
}
