import { afterEach, expect, it } from 'vitest';
import { runHostile } from '../fixtures/hostile-script.ts';
import { removePlugins } from '../fixtures/plugin-trial.ts';

afterEach(removePlugins);

it('a hostile script fails its node only, with the cause', async () => {
  const { error, stages, published } = await runHostile(
    'data.append("hostile.seen", 1).catch(() => {}); while (true);',
    { limits: { timeout: 2000 } },
  );
  expect(error).toMatch(/^it ran longer than 2s \(plugins\.limits\.timeout\)$/);
  expect([stages['p']?.status, stages['s']?.status]).toEqual(['failed', 'completed']);
  expect(published.filter(([key]) => key !== 'hostile.seen')).toEqual([]);
});
