/** A message to test a channel. */
export interface TestNotice {
  event: 'test';
  message: string;
  /** ISO 8601 UTC. */
  sent_at: string;
}

export function testNotice(now: Date): TestNotice {
  const message = 'Test message: this channel works.';
  return { event: 'test', message, sent_at: now.toISOString() };
}

/** Pairs of a name and a value, for people. */
export function testFacts({ message, sent_at }: TestNotice): [name: string, value: string][] {
  return [
    ['Message', message],
    ['Sent', sent_at],
  ];
}
