import { readFileSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { Home } from '../cli/command.ts';
import { root } from '../program.ts';

const home = new Home();
afterAll(() => home.remove());

it('the script of docs/plugins.md finds the old server and leaves the new one alone', async () => {
  const [, script = ''] =
    /^```ts\n(export const Plugin[^]*?)^```$/m.exec(readFileSync(join(root, 'docs/plugins.md'), 'utf8')) ??
    [];
  const file = home.file('old_ssh.mts');
  writeFileSync(file, script);
  const servers = ['7.2p1', '9.9p1'].map((version) =>
    createServer((socket) => {
      socket.on('error', () => {});
      socket.write(`SSH-2.0-OpenSSH_${version}\r\n`);
    }),
  );
  const ports = await Promise.all(
    servers.map(async (server) => {
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      return (server.address() as AddressInfo).port;
    }),
  );
  const scan = ['scan', '127.0.0.1', '--ports', ports.join(), '--plugin', file, '--format', 'jsonl', '-q'];
  const { code, stdout, stderr } = await home.run(scan);
  for (const server of servers) server.close();
  expect([code, stderr]).toEqual([0, '']);
  const found = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { type: string; port: number; vulnerability: { evidence: string } })
    .filter(({ type }) => type === 'vulnerability');
  expect(found).toMatchObject([
    {
      port: ports[0],
      producer: { name: 'old_ssh', version: '1.0.0' },
      vulnerability: { id: 'old-ssh', class: 'likely', evidence: 'SSH-2.0-OpenSSH_7.2p1', plugin: 'old_ssh' },
    },
  ]);
});
