import { expect, it, vi } from 'vitest';
import { openService } from '../fixtures/service.ts';
import { Housekeeping } from './housekeeping.ts';

it('deletes messages without a scan that nobody sent for a week, and no younger ones', async () => {
  const service = await openService({}, { working: false });
  const { store, workspace, context } = service;
  const housekeeping = new Housekeeping({ store, workspace }, context.log);
  try {
    const day = 24 * 3_600_000;
    const owner = 'server:gone';
    const notice = { event: 'alert', payload: {}, owner, tenant: null };
    await store.outbox.addNotice({ ...notice, channels: ['slack://old'] }, Date.now() - 7 * day - 60_000);
    await store.outbox.addNotice({ ...notice, channels: ['slack://young'] }, Date.now() - 6 * day);
    housekeeping.start();
    const left = async () => (await store.outbox.due(owner, Date.now(), 10)).map(({ channel }) => channel);
    await vi.waitFor(async () => expect(await left()).toEqual(['slack://young']), 30_000);
  } finally {
    await housekeeping.close();
    await service.close();
  }
});
