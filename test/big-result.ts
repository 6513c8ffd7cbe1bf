import { type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';
import { finding, host, port, summary } from './result-rows.ts';

/** How many of what; findings are spread evenly over the ports. */
export interface BigResult {
  hosts: number;
  portsPerHost: number;
  findingsPerPort: number;
}

/** Lines written at once. */
const batchLines = 20_000;

/**
 * Writes the record of a finished scan into its folder, by templates: a million rows take some seconds.
 *
 * @returns the number of rows, the summary not counted
 */
export async function writeBigRecord(folder: string, size: BigResult): Promise<number> {
  const file = await open(join(folder, 'results.jsonl'), 'w', 0o600);
  try {
    return await writeRows(file, size);
  } finally {
    await file.close();
  }
}

async function writeRows(file: FileHandle, size: BigResult): Promise<number> {
  const { hosts, portsPerHost, findingsPerPort } = size;
  let batch: string[] = [];
  let rows = 0;
  const add = async (line: string) => {
    batch.push(line);
    rows += 1;
    if (batch.length < batchLines) return;
    await file.write(`${batch.join('\n')}\n`);
    batch = [];
  };
  for (let index = 0; index < hosts; index++) {
    const address = `10.${index >> 16}.${(index >> 8) & 255}.${index & 255}`;
    const place = (row: object) => JSON.stringify(row).replaceAll('192.168.1.10', address);
    await add(place(host));
    for (let number = 1; number <= portsPerHost; number++) {
      await add(place(port(number, { banner: 'SSH-2.0-OpenSSH_9.2p1 Debian-2+deb12u2\r\n' })));
      const [before = '', behind = ''] = place(finding(number, '<id>')).split('"<id>"');
      for (let id = 0; id < findingsPerPort; id++) await add(`${before}"CVE-2026-${id}"${behind}`);
    }
  }
  const counts = {
    live_hosts: hosts,
    open_ports: hosts * portsPerHost,
    vulnerabilities: hosts * portsPerHost * findingsPerPort,
  };
  batch.push(JSON.stringify({ ...summary, ...counts }));
  await file.write(`${batch.join('\n')}\n`);
  return rows;
}
