import { describe, expect, it } from 'vitest';
import { type Component, Components } from './components.ts';
import { ShutdownDeadline } from './shutdown-deadline.ts';

const deadline = () => new ShutdownDeadline(60_000);

/** A component that records its calls; `failing` names the steps that throw. */
function noted(name: string, notes: string[], failing: ('start' | 'drain' | 'close')[] = []): Component {
  const step = (what: 'start' | 'drain' | 'close') => async () => {
    notes.push(`${what} ${name}`);
    if (failing.includes(what)) throw new Error(`${what} of ${name} failed`);
  };
  return { start: step('start'), drain: step('drain'), close: step('close') };
}

describe('components', () => {
  it('start in order, and all drain before the first closes, both in reverse order', async () => {
    const notes: string[] = [];
    const components = new Components();
    components.add({ close: () => notes.push('close resource') });
    await components.start([noted('listener', notes), noted('scans', notes)]);
    await components.close(deadline());
    expect(notes).toEqual([
      'start listener',
      'start scans',
      'drain scans',
      'drain listener',
      'close scans',
      'close listener',
      'close resource',
    ]);
  });

  it('close after a failed start: the one that failed too, none that had not started', async () => {
    const notes: string[] = [];
    const components = new Components();
    const list = [noted('first', notes), noted('second', notes, ['start']), noted('third', notes)];
    await expect(components.start(list)).rejects.toThrow('start of second failed');
    await components.close(deadline());
    expect(notes.slice(2)).toEqual(['drain second', 'drain first', 'close second', 'close first']);
  });

  it('close although others fail, and report the first error', async () => {
    const notes: string[] = [];
    const components = new Components();
    const thrown = () => {
      throw new Error('thrown at once');
    };
    await components.start([noted('first', notes), { close: thrown }, noted('third', notes, ['drain'])]);
    await expect(components.close(deadline())).rejects.toThrow('drain of third failed');
    expect(notes.slice(2)).toEqual(['drain third', 'drain first', 'close third', 'close first']);
  });

  it('close once', async () => {
    const notes: string[] = [];
    const components = new Components();
    await components.start([noted('only', notes)]);
    await components.close(deadline());
    await components.close(deadline());
    expect(notes).toEqual(['start only', 'drain only', 'close only']);
  });
});

describe('the deadline of a shutdown', () => {
  it('keeps time for what comes after scans and after responses, and leaves each some', () => {
    const long = new ShutdownDeadline(3_600_000);
    expect(long.responsesMs - long.scansMs).toBeGreaterThan(1000);
    expect(long.responsesMs).toBeLessThanOrEqual(3_600_000 - 500);
    const short = new ShutdownDeadline(0);
    expect([short.scansMs, short.responsesMs]).toEqual([100, 100]);
  });
});
