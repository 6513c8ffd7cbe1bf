import { describe, expect, test } from 'vitest';
import { parseInstrument } from './instrument-service.ts';

const hex = (text: string) => Buffer.from(text.replaceAll(' ', ''), 'hex');
const evidence = (bytes: Buffer, probe: string) => parseInstrument(bytes, probe)?.evidence;

describe('instruments and debuggers', () => {
  test('owserver reports its version', () => {
    const response = hex('00000000 00000005 00000005 00000000 00000005 00000000 332e327034');
    expect(evidence(response, 'owserver')).toEqual([['owserver.version', '3.2p4']]);
    const refusal = hex('00000000 00000000 ffffffd6 00000000 00000000 00000000');
    expect(parseInstrument(refusal, 'owserver')).toMatchObject({ service: 'owserver', evidence: [] });
    expect(
      parseInstrument(hex('00000001 00000000 00000000 00000000 00000000 00000000'), 'owserver'),
    ).toBeNull();
  });

  test('Hamlib echoes the command or reports an error number', () => {
    expect(evidence(Buffer.from('get_info:\nInfo: Dummy rotator\nRPRT 0\n'), 'hamlib')).toEqual([
      ['hamlib.answer', 'get_info:'],
    ]);
    expect(evidence(Buffer.from('RPRT -11\n'), 'hamlib')).toEqual([['hamlib.answer', 'RPRT -11']]);
    expect(parseInstrument(Buffer.from('hello\n'), 'hamlib')).toBeNull();
  });

  test('a GDB stub reports its features', () => {
    const packet = '+$PacketSize=47ff;QPassSignals+;QProgramSignals+#a1';
    expect(evidence(Buffer.from(packet), 'gdb-remote')).toEqual([
      ['gdb.features', 'PacketSize=47ff;QPassSignals+;QProgramSignals+'],
    ]);
    expect(parseInstrument(Buffer.from('+$PacketSize=47ff'), 'gdb-remote')).toBeNull();
  });

  test('short responses count only for their own probe', () => {
    expect(parseInstrument(hex('00020000'), 'eibd')?.service).toBe('eibd');
    expect(parseInstrument(hex('00020000'), 'generic')).toBeNull();
    expect(evidence(hex('0111 0005 00000000 00000002'), 'usbip')).toEqual([['usbip.version', '111']]);
    expect(evidence(hex('00000000 01010003'), 'sane')).toEqual([['sane.protocol', '1.1.3']]);
    expect(parseInstrument(hex('00000063 01010003'), 'sane')).toBeNull();
  });

  test('MooseFS servers report their version as text, older ones as numbers', () => {
    const head = '0000000b 00000011 0000504f 000300ea';
    const version = hex(`${head} ${Buffer.from('3.0.117-1').toString('hex')}`);
    expect(evidence(version, 'moosefs')).toEqual([['moosefs.version', '3.0.117-1']]);
    expect(evidence(hex('0000000b 00000008 0000504f 00010615'), 'moosefs')).toEqual([
      ['moosefs.version', '1.6.21'],
    ]);
    expect(parseInstrument(hex(head.replace('504f', '0001')), 'moosefs')).toBeNull();
  });

  test('an RPKI cache replies with a reset or an error', () => {
    expect(evidence(hex('00 08 0000 00000008'), 'rpki-rtr')).toEqual([['rpki.answer', 'reset']]);
    const error = hex('00 0a 0000 00000018 00000000 00000008 4e6f2064617461 00');
    expect(evidence(error, 'rpki-rtr')).toEqual([
      ['rpki.answer', 'error'],
      ['rpki.error', 'No data'],
    ]);
    expect(parseInstrument(hex('00 08 0000 00000004'), 'rpki-rtr')).toBeNull();
    expect(parseInstrument(hex('00 0a 0000 00000018 ffffffff 00000000'), 'rpki-rtr')?.service).toBe(
      'rpki-rtr',
    );
  });
});
