import { expect, test } from 'vitest';
import {
  readBedrock,
  readMinetest,
  readQuake,
  readSourceEngine,
  readTeeworlds,
} from './game-announcement.ts';

const latin1 = (text: string) => Buffer.from(text, 'latin1');
const mark = '\xff\xff\xff\xff';

test('Quake engines report their version', () => {
  const response = `${mark}statusResponse\n\\version\\ioq3 1.36_GIT linux-x86_64\\gamename\\baseoa\\mapname\\q3dm1\n0 0 "x"\n`;
  expect(readQuake(latin1(response))?.evidence).toEqual([
    ['quake.version', 'ioq3 1.36_GIT linux-x86_64'],
    ['quake.gamename', 'baseoa'],
  ]);
  expect(readQuake(latin1(`${mark}n\\*version\\MVDSV 0.36\\map\\dm6\n`))?.evidence).toEqual([
    ['quake.version', 'MVDSV 0.36'],
  ]);
  expect(readQuake(latin1(`${mark}disconnect`))).toBeNull();
});

test('the Source engine reports its game or sends a challenge', () => {
  const response = latin1(`${mark}I\x11A server\0cp_badlands\0tf\0Team Fortress\0\xb8\x01`);
  expect(readSourceEngine(response)?.evidence).toEqual([['source.game', 'Team Fortress']]);
  expect(readSourceEngine(latin1(`${mark}A\x01\x02\x03\x04`))).toMatchObject({ evidence: [] });
  expect(readSourceEngine(latin1(`${mark}I\x11`))).toBeNull();
});

test('Minecraft reports edition and version after the RakNet magic number', () => {
  const text = 'MCPE;A world;594;1.20.15;0;10;1;x;Survival';
  const pong = Buffer.concat([
    Buffer.from([0x1c]),
    Buffer.alloc(16),
    Buffer.from('00ffff00fefefefefdfdfdfd12345678', 'hex'),
    Buffer.from([0, text.length]),
    latin1(text),
  ]);
  expect(readBedrock(pong)?.evidence).toEqual([['minecraft.bedrock', '1.20.15']]);
  expect(readBedrock(pong.subarray(0, 34))).toBeNull();
});

test('Teeworlds reports its version or sends a token', () => {
  const response = `${'\xff'.repeat(10)}inf35\x000.6.4, 16.4\0My server\0`;
  expect(readTeeworlds(latin1(response))?.evidence).toEqual([['teeworlds.version', '0.6.4, 16.4']]);
  expect(readTeeworlds(latin1('\x04\0\0PORT\x05abcd'))?.evidence).toEqual([['teeworlds.token', '0.7']]);
  expect(readTeeworlds(latin1('\x04\0\0XXXX\x05abcd'))).toBeNull();
});

test('Minetest assigns a peer id', () => {
  expect(
    readMinetest(Buffer.from('4f457403000100 03ffdc0001 0002'.replaceAll(' ', ''), 'hex'))?.service,
  ).toBe('minetest');
  expect(readMinetest(Buffer.from('4f4574030001', 'hex'))).toBeNull();
});
