import { describe, expect, it } from 'vitest';
import { completedFacts } from '../../fixtures/report-of-rows.ts';
import type { ReportFacts } from '../../report-facts.ts';
import { partialText, scanState } from './scan-state.ts';

const ports = { open: 61, closed: 13_870, filtered: 1774, notTried: 22_599, planned: 38_304 };
const summary = { ...completedFacts().summary, duration_seconds: 224 };
const completedAt = '2026-11-21T14:18:02.000Z';

function banner(more: Partial<ReportFacts>, counted: typeof ports | null = ports): string | null {
  const facts = completedFacts({ summary, completedAt, ...more });
  return partialText(facts, scanState(facts), counted);
}

describe('the banner of a partial scan', () => {
  const canceled = { status: 'failed', partial: true, failure: { code: 'canceled', message: 'Canceled.' } };

  it.each<[string, Partial<ReportFacts>, string]>([
    [
      'canceled by somebody',
      { ...canceled, canceledBy: 'token ops-laptop' },
      'Canceled. Partial results. Canceled at 14:18:02 UTC by token ops-laptop after 3 min 44 s. 22,599 of 38,304 ports were not tried.',
    ],
    [
      'canceled, not known when and by whom',
      { ...canceled, completedAt: null },
      'Canceled. Partial results. Canceled after 3 min 44 s. 22,599 of 38,304 ports were not tried.',
    ],
    [
      'failed',
      { ...canceled, failure: { code: 'insufficient_storage', message: 'The disk is full.' } },
      'Failed. Partial results. The scan failed after 3 min 44 s: The disk is full. 22,599 of 38,304 ports were not tried.',
    ],
    [
      'timed out',
      { ...canceled, failure: { code: 'timeout', message: 'Ran longer than 3m' } },
      'Timed out. Partial results. The scan ran out of time after 3 min 44 s: Ran longer than 3m. 22,599 of 38,304 ports were not tried.',
    ],
    [
      'running',
      { status: 'running', partial: true, timestamp: completedAt, completedAt: null },
      'Running. Partial results. The report shows what was found until Nov 21, 2026, 14:18 UTC. 22,599 of 38,304 ports were not tried.',
    ],
    [
      'with a damaged record',
      { warnings: [{ code: 'record_damaged', message: 'Lost.' }] },
      'Results lost. Partial results. What is missing here is not known to be absent. 22,599 of 38,304 ports were not tried.',
    ],
  ])('that was %s', (_case, more, text) => {
    expect(banner(more)).toBe(text);
  });

  it('says nothing about ports where none is known', () => {
    expect(banner(canceled, null)).toBe(
      'Canceled. Partial results. Canceled at 14:18:02 UTC after 3 min 44 s.',
    );
    expect(banner(canceled, { ...ports, notTried: 0 })).not.toMatch(/not tried/);
  });

  it('is none for a scan that reached its end', () => {
    expect(banner({})).toBeNull();
  });
});
