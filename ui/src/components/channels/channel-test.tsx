import { type ReactNode, useState } from 'react';
import type { Data } from '../../api/api-types.ts';
import { useSend } from '../../api/use-send.ts';
import { Button } from '../controls/button.tsx';
import { useLack } from '../controls/use-lack.ts';
import { StateMark } from '../marks/state-mark.tsx';

export type TestResult = Data<'/api/v1/notifications/test', 'post'>;

/** What stands beside a channel, with a button that sends a test message to it and what became of that. */
export function WithChannelTest({ channel, children }: { channel: string; children: ReactNode }): ReactNode {
  const test = useSend('post', '/api/v1/notifications/test');
  const [result, setResult] = useState<TestResult | null>(null);
  const lack = useLack('admin');
  const run = () => test.send({ body: { channel } }).then(setResult, () => setResult(null));
  return (
    <li className="flex flex-wrap items-center gap-x-3 gap-y-1 border-line-subtle border-b py-2">
      <div className="min-w-0 flex-1">
        {children}
        <TestOutcome result={result} problem={test.error?.message ?? null} />
      </div>
      <Button
        size="small"
        pending={test.isPending}
        disabledReason={lack}
        aria-description={channel}
        onClick={() => void run()}
      >
        {test.isPending ? 'Sending' : 'Test'}
      </Button>
    </li>
  );
}

const words = { delivered: 'Delivered', skipped: 'Skipped', failed: 'Failed' } as const;
const marks = { delivered: 'completed', skipped: 'skipped', failed: 'failed' } as const;

export function TestOutcome({
  result,
  problem,
}: {
  result: TestResult | null;
  problem: string | null;
}): ReactNode {
  return (
    <div role="status" className="text-size-12">
      {problem !== null ? (
        <span className="text-state-failed">{problem}</span>
      ) : result === null ? null : (
        <span className="flex flex-wrap items-baseline gap-x-2 pt-0.5">
          <StateMark state={marks[result.status]} word={words[result.status]} />
          <span className="text-text-2 [overflow-wrap:anywhere]">{result.reason}</span>
        </span>
      )}
    </div>
  );
}
