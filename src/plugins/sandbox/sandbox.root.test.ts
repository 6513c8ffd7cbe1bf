import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { HostProcess } from './host-process.ts';
import { selfTestProgram } from './self-test.ts';

const nobody = 65_534;
const script = `
  const { testSandbox } = await import(${JSON.stringify(join(import.meta.dirname, 'self-test.ts'))});
  console.log(JSON.stringify([await testSandbox(), await testSandbox({ landlockAbi: 2 })]));
`;

describe('the sandbox', () => {
  it.each([
    ['root', 0],
    ['nobody', nobody],
  ])('holds as %s', (_, user) => {
    const args = ['--no-warnings', '--input-type=module', '-e', script];
    const text = execFileSync(process.execPath, args, { uid: user, gid: user, cwd: '/', encoding: 'utf8' });
    const held = { failure: null, missing: false, attempts: 10 };
    expect(JSON.parse(text)).toEqual([held, held]);
  });

  it('lets a host read its own status after the kernel gave up what it held of /proc', async () => {
    const host = await HostProcess.start({
      program: selfTestProgram,
      memory: 2 ** 27,
      output: 2 ** 20,
      threads: 64,
    });
    try {
      // The first time may only mark what was used lately.
      for (let round = 0; round < 3; round += 1) writeFileSync('/proc/sys/vm/drop_caches', '2');
      const { message } = await host.call({ attempt: 'read', argument: '/proc/self/status' }, 15_000);
      expect((message as { value: unknown }).value).toBe('allowed');
    } finally {
      await host.close();
    }
  });
});
