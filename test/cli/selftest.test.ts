import { afterAll, expect, it } from 'vitest';
import { Home } from './command.ts';

const home = new Home();
afterAll(() => home.remove());

it('selftest checks the packet engine, in text and in JSON', async () => {
  const text = await home.run(['selftest']);
  expect([text.code, text.stderr]).toEqual([0, '']);
  expect(text.stdout.trimEnd().split('\n')).toHaveLength(6);
  expect(text.stdout).not.toContain('fail');
  const json = JSON.parse((await home.run(['selftest', '--format', 'json'])).stdout);
  expect(json).toMatchObject({ ok: true, checks: [{ status: 'ok', message: null }, {}, {}, {}, {}, {}] });
});
