import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';
import { afterAll } from 'vitest';

// A scan of this machine reaches the listeners of a test too, and resets its connections. Without a handler that would be
// an uncaught exception in a test that has nothing to do with it.
const channel = 'net.server.socket';
const ignoreErrors = (message: unknown) => {
  (message as { socket: Socket }).socket.on('error', () => undefined);
};
subscribe(channel, ignoreErrors);
afterAll(() => {
  unsubscribe(channel, ignoreErrors);
});
