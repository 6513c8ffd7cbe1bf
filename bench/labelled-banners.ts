/**
 * The builtin signatures on banners that others have labelled: how many they name, and how often they name a wrong
 * product for certain. The folder with `banners/recog-examples.jsonl` stands in PORTOLAN_REFERENCE_DATA.
 *
 *   PORTOLAN_REFERENCE_DATA=FOLDER node bench/labelled-banners.ts [--wrong]
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { builtinRules, type SignatureMatch } from '../src/knowledge/rules/rule-catalog.ts';

/** Confidence from which on a wrong name counts. */
const certain = 0.8;

/** The evidence that each kind of labelled text stands for. */
const sources: Record<string, string> = {
  'ssh_banners.xml': 'ssh.software',
  'http_servers.xml': 'http.header.server',
  'html_title.xml': 'http.title',
  'http_cookies.xml': 'http.cookies',
  'http_wwwauth.xml': 'http.realm',
  'ftp_banners.xml': 'ftp.greeting',
  'smtp_banners.xml': 'smtp.greeting',
  'pop_banners.xml': 'pop3.greeting',
  'imap_banners.xml': 'imap.greeting',
  'mysql_banners.xml': 'mysql.greeting',
  'mysql_error.xml': 'mysql.error',
  'dns_versionbind.xml': 'dns.version',
  'telnet_banners.xml': 'banner.raw',
  'nntp_banners.xml': 'banner.raw',
  'x509_subjects.xml': 'tls.subject',
  'x509_issuers.xml': 'tls.issuer',
  'snmp_sysdescr.xml': 'snmp.sysdescr',
  'sip_banners.xml': 'banner.raw',
  'rtsp_servers.xml': 'banner.raw',
};

interface Labelled {
  db: string;
  encoding: 'text' | 'base64';
  banner: string;
  expect: Record<string, string>;
  static: Record<string, string>;
}

interface Tally {
  all: number;
  named: number;
  right: number;
  wrong: number;
}

function words(text: string): string[] {
  return text
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word.length > 2);
}

/** Names differ between makers of labels, so one word in common is enough. */
function agrees(match: SignatureMatch, { expect, static: fixed }: Labelled): boolean {
  const labels = { ...fixed, ...expect };
  const told = Object.entries(labels).filter(([name]) => /\.(?:product|vendor|family|device)$/.test(name));
  const meant = new Set(told.flatMap(([, value]) => words(value)));
  const said = words(`${match.product} ${match.vendor ?? ''}`);
  return (
    meant.size === 0 || said.some((word) => [...meant].some((m) => m.includes(word) || word.includes(m)))
  );
}

function textOf(record: Labelled): string {
  const bytes = Buffer.from(record.banner, record.encoding === 'base64' ? 'base64' : 'utf8');
  const text = bytes.toString('latin1');
  // These stand for the value of one header of an answer.
  if (record.db === 'sip_banners.xml') return `SIP/2.0 200 OK\r\nServer: ${text}\r\n`;
  if (record.db === 'rtsp_servers.xml') return `RTSP/1.0 200 OK\r\nServer: ${text}\r\n`;
  return record.db === 'http_wwwauth.xml' ? (/realm="?([^"]*)/i.exec(text)?.[1] ?? text) : text;
}

function main(): void {
  const { values } = parseArgs({ options: { wrong: { type: 'boolean', default: false } } });
  const folder = process.env['PORTOLAN_REFERENCE_DATA'];
  if (!folder) {
    process.stderr.write('PORTOLAN_REFERENCE_DATA names no folder with labelled banners.\n');
    process.exitCode = 2;
    return;
  }
  const lines = readFileSync(join(folder, 'banners/recog-examples.jsonl'), 'utf8').trim().split('\n');
  const tallies = new Map<string, Tally>();
  for (const line of lines) {
    const record = JSON.parse(line) as Labelled;
    const source = sources[record.db];
    if (!source) continue;
    const tally = tallies.get(record.db) ?? { all: 0, named: 0, right: 0, wrong: 0 };
    tallies.set(record.db, tally);
    tally.all += 1;
    const best = builtinRules.match(source, textOf(record)).find(({ product }) => product !== null);
    if (!best) continue;
    tally.named += 1;
    if (agrees(best, record)) tally.right += 1;
    else if (best.certainty >= certain) {
      tally.wrong += 1;
      const meant = { ...record.static, ...record.expect };
      if (values.wrong)
        console.log(
          `${record.db}: ${textOf(record).slice(0, 100)} -> ${best.rule}, not ${JSON.stringify(meant).slice(0, 160)}`,
        );
    }
  }
  const sum = (field: keyof Tally) => [...tallies.values()].reduce((total, tally) => total + tally[field], 0);
  for (const [db, { all, named, right, wrong }] of tallies)
    console.log(`${db}: ${all} texts, ${named} named, ${right} right, ${wrong} wrong at >= ${certain}`);
  const share = (part: number) => `${((100 * part) / sum('all')).toFixed(2)} %`;
  console.log(
    `all: ${sum('all')}, right ${share(sum('right'))}, wrong at >= ${certain} ${share(sum('wrong'))}`,
  );
}

main();
