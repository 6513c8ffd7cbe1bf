import { expect, it } from 'vitest';
import { sourcesOf, usersOf } from './module-flow.ts';

const ping = { name: 'ping', requires: ['targets'], provides: ['hosts'] };
const arp = { name: 'arp', requires: ['targets'], provides: ['arp_hosts'] };
const connect = { name: 'connect', requires: ['hosts|arp_hosts'], provides: ['open_ports'] };
const all = [ping, arp, connect];

it('names who provides what a module requires', () => {
  expect(sourcesOf(connect, all)).toEqual([{ key: 'hosts|arp_hosts', modules: ['ping', 'arp'] }]);
  expect(sourcesOf(ping, all)).toEqual([{ key: 'targets', modules: [] }]);
});

it('names who requires what a module provides', () => {
  expect(usersOf(arp, all)).toEqual([{ key: 'arp_hosts', modules: ['connect'] }]);
  expect(usersOf(connect, all)).toEqual([{ key: 'open_ports', modules: [] }]);
});
