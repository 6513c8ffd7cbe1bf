import { afterEach, describe, expect, it } from 'vitest';
import { runHostile as run } from '../fixtures/hostile-script.ts';
import { type PluginTrial, removePlugins } from '../fixtures/plugin-trial.ts';

afterEach(removePlugins);

/** What is published never finds room. */
const stuck: PluginTrial = {
  environment: { tap: (key) => (key === 'hostile.seen' ? new Promise<void>(() => {}) : undefined) },
};
const short = { limits: { timeout: 2000 } };

describe('a hostile script fails its node only, with the cause:', () => {
  it.each<[string, string, RegExp, PluginTrial?]>([
    ['an endless loop', 'while (true);', /^it ran longer than 2s \(plugins\.limits\.timeout\)$/, short],
    ['silence', 'await new Promise(() => {});', /^it ran longer than 2s/, short],
    [
      'a loop past the timeout of the node',
      'while (true);',
      /timeout of 1000 ms/,
      { settings: 'timeout: 1s' },
    ],
    [
      'memory',
      'const kept = []; while (true) kept.push(new Array(1e6).fill(Math.random()));',
      /memory limit of 128 MiB/,
    ],
    ['buffers', 'const kept = []; while (true) kept.push(Buffer.alloc(2 ** 24, 1));', /memory|allocation/i],
    ['its exit', 'process.exit(7);', /exited with code 7/],
    ['an error', 'await data.append("hostile.seen", 1);\n null.x;', /^TypeError: .* \(a\.mjs:\d+\)$/],
    ['no error', 'throw undefined;', /^undefined$/],
    ['text with controls', 'throw new Error("\\x1b[2J\\u202e");', /^\\x1b\[2J\\u\{202e\} /],
    ['a long text', 'throw new Error("x".repeat(1e6));', /^x{1000}\.\.\.$/],
    [
      'an error out of its promise',
      'setTimeout(() => { null.x; }, 10); await new Promise(() => {});',
      /^uncaught error: TypeError/,
    ],
    [
      'a rejection that nobody awaits',
      'Promise.reject(new Error("late")); await new Promise(() => {});',
      /^uncaught error: late/,
    ],
    [
      'a key that it did not declare',
      'await data.append("open_ports", {});',
      /does not declare "open_ports"/,
    ],
    [
      'such a key, hushed up',
      'await data.set("vulnerabilities", []).catch(() => {});',
      /does not declare "vulnerabilities"/,
    ],
    [
      'an item above the limit',
      'await data.append("hostile.seen", "x".repeat(5e6));',
      /bytes at once, above the limit of 4194304/,
    ],
    ['an item that is no JSON', 'const a = {}; a.a = a; await data.append("hostile.seen", a);', /is no JSON/],
    ['a value that is nothing', 'await data.set("hostile.seen", undefined);', /is no JSON/],
    ['a frame of 1 GiB', 'frame("", 2 ** 30); await new Promise(() => {});', /frame of 1073741824 bytes/],
    ['a frame that is no JSON', 'frame("{oops"); await new Promise(() => {});', /frame without valid JSON/],
    [
      'a response without a request',
      'frame({ id: 999, value: 1 }); await new Promise(() => {});',
      /a response without a request/,
    ],
    [
      'a message that is none',
      'frame({ op: "shell" }); await new Promise(() => {});',
      /none of a plugin host/,
    ],
    ['null', 'frame("null"); await new Promise(() => {});', /none of a plugin host/],
    [
      'a log of no level',
      'frame({ op: "log", node: "n1", level: "__proto__", message: "" }); await new Promise(() => {});',
      /none of a plugin host/,
    ],
    [
      'a call of a node that is none',
      'frame({ call: 1, op: "set", node: "n9", key: "a", value: 1 }); await new Promise(() => {});',
      /node that does not exist/,
    ],
    [
      'many calls at a time',
      'for (let call = 1e6; call < 1e6 + 5000; call += 1) frame({ call, op: "append", node: "n1", key: "hostile.seen", items: [1] }); await new Promise(() => {});',
      /more than 4096 calls at a time/,
      stuck,
    ],
    [
      'much at a time',
      'const text = "x".repeat(1e6); for (let i = 0; i < 9; i += 1) data.append("hostile.seen", text + i).catch(() => {}); for (let call = 1e6; call < 1e6 + 9; call += 1) frame({ call, op: "append", node: "n1", key: "hostile.seen", items: [text] }); await new Promise(() => {});',
      /^calls of more than 4 ?M\w* \(plugins\.limits\.output\) at a time$/,
      stuck,
    ],
  ])('%s', async (_, body, cause, trial) => {
    const { error, stages, published } = await run(body, trial);
    expect(error).toMatch(cause);
    expect(stages['p']?.status).toBe('failed');
    expect(stages['s']?.status).toBe('completed');
    expect(published.filter(([key]) => key !== 'hostile.seen')).toEqual([]);
  });

  it('a forged end: what it publishes afterward is dropped', async () => {
    const { error, published } = await run(
      'frame({ id: 4 }); await new Promise((done) => setTimeout(done, 200)); await data.append("hostile.seen", 1);',
    );
    expect(published).toEqual([]);
    expect(error === null || /without a request/.test(error)).toBe(true);
  });

  it('a crash: the next node runs on a second host, and none on a third', async () => {
    const { stages, logged } = await run('console.log(process.pid); process.exit(3);', {
      also: ['q', 'r'],
      environment: { maxParallelNodes: 1 },
    });
    expect(['p', 'q', 'r'].map((node) => stages[node]?.error)).toEqual(
      Array.from({ length: 3 }, () => expect.stringContaining('exited with code 3')),
    );
    expect(new Set(logged.filter((line) => /^\d+$/.test(line))).size).toBe(2);
  });

  it('a flood of log lines is capped', async () => {
    const { error, logged } = await run('for (let i = 0; i < 20000; i += 1) ctx.log.info("x".repeat(5000));');
    expect(error).toBe(null);
    expect(logged.length).toBeLessThan(2000);
    expect(logged).toContain('plugin log lines dropped');
    expect(Math.max(...logged.map(({ length }) => length))).toBeLessThan(1010);
  });

  it('a flood of warnings is capped', async () => {
    const { warnings } = await run(
      'for (let i = 0; i < 1000; i += 1) ctx.warn("node_failed", "w", String(i));',
    );
    expect(warnings).toHaveLength(50);
    expect(warnings[0]).toBe('plugin_node_failed: trial-package: w');
  });

  it('one that ignores cancel is ended with its host', async () => {
    const abort = new AbortController();
    const { error } = await run('ctx.progress(1); while (true);', {
      environment: {
        signal: abort.signal,
        onProgress: () => abort.abort(new Error('canceled by a client')),
      },
    });
    expect(error).toBe('canceled by a client');
  });

  it('one that applies cancel keeps its host', async () => {
    const abort = new AbortController();
    const { error, logged } = await run(
      'ctx.progress(1); await new Promise((done) => ctx.signal.addEventListener("abort", done)); ctx.log.info("stopped");',
      {
        environment: {
          signal: abort.signal,
          onProgress: () => abort.abort(new Error('canceled by a client')),
        },
      },
    );
    expect(error).toBe('canceled by a client');
    expect(logged).toContain('stopped');
  });
});
