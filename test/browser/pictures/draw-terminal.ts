import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loopbackOnly, root } from '../../program.ts';
import { officeTargets, openOffice } from './office.ts';
import { TerminalScreen } from './terminal-screen.ts';
import { type Frame, terminalSvg } from './terminal-svg.ts';

const size = { columns: 100, rows: 36 };
/** What is typed, with ports of which most are closed. */
const command = `portolan scan ${officeTargets} --ports 1-1024,3000,6379,8080,9999 --rate 1200 --vuln`;
/** Frames closer to each other than this are one, milliseconds. */
const frameMs = 250;
/** Longest stand-still that is shown, milliseconds. */
const longestPauseMs = 1500;
/** Before the program writes: time to read the command, milliseconds. */
const readingMs = 1200;

/** A recording of a real scan in a terminal. @returns name of the SVG file in `folder` */
export async function drawTerminal(_browser: unknown, folder: string): Promise<string[]> {
  const close = await openOffice();
  try {
    const frames = await record();
    writeFileSync(
      join(folder, 'terminal-scan.svg'),
      terminalSvg({ title: 'portolan scan', ...size, frames }),
    );
  } finally {
    close();
  }
  return ['terminal-scan.svg'];
}

async function record(): Promise<Frame[]> {
  const home = mkdtempSync(join(tmpdir(), 'portolan-terminal-'));
  const screen = new TerminalScreen(size.columns);
  screen.write(`$ \x1b[1m${command}\x1b[0m\r\n`);
  const frames: Frame[] = [{ at: 0, rows: inWindow(screen) }];
  try {
    // script(1) gives the program a terminal of its own.
    const line = `stty cols ${size.columns} rows ${size.rows}; exec ${command}`;
    const child = spawn('script', ['--quiet', '--flush', '--return', '--command', line, '/dev/null'], {
      env: {
        PATH: `${join(root, 'bin')}:${process.env['PATH']}`,
        HOME: home,
        TERM: 'xterm-256color',
        LANG: 'C.UTF-8',
        ...loopbackOnly,
      },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let [last, now] = [performance.now(), readingMs];
    for await (const chunk of child.stdout) {
      const waited = performance.now() - last;
      last += waited;
      now += Math.min(waited, longestPauseMs);
      screen.write(String(chunk));
      const previous = frames.at(-1);
      // What comes at once is one picture.
      if (previous && frames.length > 1 && now - previous.at < frameMs) previous.rows = inWindow(screen);
      else frames.push({ at: Math.round(now), rows: inWindow(screen) });
    }
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
  return frames;
}

/** The rows that the window shows: the last ones. */
function inWindow(screen: TerminalScreen): Frame['rows'] {
  return screen.rows().slice(-size.rows);
}
