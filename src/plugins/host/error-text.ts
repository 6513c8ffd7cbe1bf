import { fileURLToPath } from 'node:url';

/** Of an error of a plugin. */
const maxLength = 2000;

/** Message of an error and its causes, and where in the folder of the plugin it came from. */
export function describeError(error: unknown, folder: string): string {
  if (!(error instanceof Error)) return String(error).slice(0, maxLength);
  const named = ['Error', 'CallRejection', 'MissingKeyError'].includes(error.name) ? '' : `${error.name}: `;
  // An AggregateError of Node.js has only a code.
  const { code = '' } = error as NodeJS.ErrnoException;
  const text = `${named}${error.message || code}`;
  if (error.cause !== undefined) return `${text}: ${describeError(error.cause, folder)}`.slice(0, maxLength);
  // The line of a syntax error stands in the text of whoever imported the file.
  const location = error instanceof SyntaxError ? null : locationIn(error.stack ?? '', folder);
  return `${text}${location === null ? '' : ` (${location})`}`.slice(0, maxLength);
}

/** `check.mjs:12`, from the first line of a stack that names a file of the folder. */
function locationIn(stack: string, folder: string): string | null {
  if (folder === '') return null;
  for (const [, path = '', line] of stack.matchAll(/(?:^|[ (])((?:file:\/\/)?\/[^\s():]+):(\d+)/gm)) {
    const file = path.startsWith('file:') ? filePath(path) : path;
    if (file?.startsWith(`${folder}/`)) return `${file.slice(folder.length + 1)}:${line}`;
  }
  return null;
}

function filePath(url: string): string | undefined {
  try {
    return fileURLToPath(url);
  } catch {
    return undefined;
  }
}
