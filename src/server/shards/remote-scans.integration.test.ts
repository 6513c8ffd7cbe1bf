import { expect, it } from 'vitest';
import { RemoteScans } from './remote-scans.ts';

/** A scan of the server `owner`, canceled through another one. */
function canceling({ heartbeats, endsAfter }: { heartbeats: boolean; endsAfter: number }) {
  const looks = { presence: 0, commands: [] as string[] };
  const store = {
    scans: { ownerOf: async () => 'owner' },
    scanQueue: { isRunning: async () => looks.presence < endsAfter },
  };
  const line = { command: async (_id: string, command: string) => void looks.commands.push(command) };
  const presence = {
    isPresent: async () => {
      looks.presence += 1;
      return heartbeats;
    },
  };
  const elsewhere = new RemoteScans(store as never, line as never, 'this', presence, {
    absent: 1,
    present: 60_000,
  });
  return { looks, done: elsewhere.cancel('20261006-143022-a1b2c3') };
}

it('a cancel waits for an owner that gives heartbeats, however long it takes', async () => {
  const { looks, done } = canceling({ heartbeats: true, endsAfter: 2 });
  await done;
  expect(looks).toEqual({ presence: 2, commands: ['cancel'] });
});

it('a cancel is unavailable when the owner gives no heartbeat', async () => {
  const { looks, done } = canceling({ heartbeats: false, endsAfter: 2 });
  await expect(done).rejects.toMatchObject({ code: 'unavailable' });
  expect(looks).toEqual({ presence: 1, commands: ['cancel'] });
});
