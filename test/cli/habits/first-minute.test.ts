import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { root } from '../../program.ts';
import { Home, run } from '../command.ts';

const home = new Home();
const folder = mkdtempSync(join(tmpdir(), 'portolan-first-minute-'));
afterAll(() => {
  home.remove();
  rmSync(folder, { recursive: true, force: true });
});

interface Lock {
  packages: Record<string, { engines?: { node: string } }>;
}

describe('npm ci', () => {
  const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as Lock;

  it('prints no warning of packages that want a newer Node.js', async () => {
    for (const file of ['package.json', '.npmrc']) cpSync(join(root, file), join(folder, file));
    for (const [path, entry] of Object.entries(lock.packages)) if (path) entry.engines = { node: '>=999' };
    writeFileSync(join(folder, 'package-lock.json'), JSON.stringify(lock));
    const dryRun = (...more: string[]) =>
      run('npm', ['ci', '--dry-run', '--ignore-scripts', ...more], { cwd: folder, env: home.env });
    // As the command would be without the settings of the project.
    expect((await dryRun('--loglevel=warn')).stderr).toContain('EBADENGINE');
    const { code, stdout, stderr } = await dryRun();
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toContain('added ');
  });

  it('installs neither buf nor its plugin, which only `npm run proto` uses', () => {
    expect(
      Object.keys(lock.packages).filter((path) => /@bufbuild\/(buf|protoc-gen-es)\b/.test(path)),
    ).toEqual([]);
  });
});

describe('npm start', () => {
  /** Ends the server when its first scan begins, as Ctrl-C does. */
  const start = (auth: boolean) =>
    home.start(['server', 'start', '--bind', '127.0.0.1:0', '--first-scan'], {
      env: { SERVICE_SERVER__API__AUTH: String(auth) },
      started: (child) => {
        let output = '';
        const read = (chunk: Buffer) => {
          output += chunk.toString();
          if (!output.includes('scanning this machine')) return;
          // A second one would end the server at once.
          child.stderr?.off('data', read).resume();
          child.kill('SIGINT');
        };
        child.stderr?.on('data', read);
      },
    });

  it('leaves one active token where one is needed, however often it starts, and else none', async () => {
    expect((await start(false)).code).toBe(0);
    expect((await home.run(['server', 'token', 'list'])).stdout).not.toContain('first-scan');
    for (const starts of [1, 2])
      expect({ starts, code: (await start(true)).code }).toEqual({ starts, code: 0 });
    const { stdout } = await home.run(['server', 'token', 'list', '--format', 'json']);
    const { tokens } = JSON.parse(stdout) as { tokens: { name: string; status: string }[] };
    expect(tokens.map(({ name, status }) => `${name} ${status}`)).toEqual(['first-scan active']);
  });

  it('says that it starts before anything else is loaded', async () => {
    const folder = home.file('without-node');
    mkdirSync(join(folder, 'bin'), { recursive: true });
    cpSync(join(root, 'bin/portolan'), join(folder, 'bin/portolan'));
    const { stderr } = await run(join(folder, 'bin/portolan'), ['server', 'start', '--first-scan'], {
      env: home.env,
    });
    expect(stderr).toMatch(/^Starting the server\n/);
  });
});
