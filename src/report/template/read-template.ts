import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { invalidRequest } from '../../domain/errors.ts';
import { isMissing } from '../../workspace/atomic-file.ts';
import { isNoPlainFile, isPlainFolder, openPlain } from '../../workspace/plain-file.ts';
import { type ReportTemplate, summaryTemplate, type TemplateLogo } from './report-template.ts';
import { maxTemplateBytes, readTemplateForm } from './template-form.ts';
import { type TemplateProblem, templateRejection } from './template-problem.ts';

/** Largest logo file, bytes. */
const maxLogoBytes = 1024 * 1024;
/** Templates that the error for an unknown name lists. */
const maxListed = 20;

const namePattern = /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/;
const templateFile = 'template.yaml';

/**
 * Reads and checks the template NAME.
 *
 * @param folder `config/templates` of the workspace
 * @throws PortolanError `invalid_request` for an unknown name, or with every problem and its line
 */
export async function readTemplate(folder: string, name: string): Promise<ReportTemplate> {
  const place = namePattern.test(name) ? join(folder, name) : null;
  // A link could lead out of the workspace.
  if (place === null || !(await isPlainFolder(folder)) || !(await isPlainFolder(place))) {
    if (name === summaryTemplate.name) return summaryTemplate;
    throw await unknownTemplate(folder, name);
  }
  const problems: TemplateProblem[] = [];
  const fail = (file: string, line: number | null, reason: string) => {
    problems.push({ file, line, reason });
    return null;
  };
  const text = await readLimited(join(place, templateFile), maxTemplateBytes).catch(problemOf);
  if (!Buffer.isBuffer(text))
    throw templateRejection(name, [{ file: templateFile, line: null, reason: text }]);
  const { form, problems: formProblems } = readTemplateForm(text.toString('utf8'), templateFile);
  problems.push(...formProblems);
  const { logo: logoPlace, ...others } = form;
  const logo = logoPlace && (await readLogo(place, logoPlace, fail));
  if (problems.length > 0) throw templateRejection(name, problems);
  return { name, ...others, logo };
}

type Fail = (file: string, line: number | null, reason: string) => null;

async function readLogo(
  place: string,
  { file, line }: { file: string; line: number },
  fail: Fail,
): Promise<TemplateLogo | null> {
  const content = await readLimited(join(place, file), maxLogoBytes).catch(problemOf);
  if (!Buffer.isBuffer(content)) return fail(templateFile, line, `logo ${file} ${content}`);
  const checked = file.endsWith('.svg') ? await svgLogo(content) : await pngLogo(content);
  return 'reason' in checked ? fail(file, checked.line, checked.reason) : checked;
}

/** What is wrong with a logo. */
type LogoProblem = Pick<TemplateProblem, 'line' | 'reason'>;

/** Readers of logos are loaded for logos only: every scan loads its reporters. */
async function svgLogo(content: Buffer): Promise<TemplateLogo | LogoProblem> {
  const { readSvgLogo, SvgProblem } = await import('./svg-logo.ts');
  try {
    return readSvgLogo(content.toString('utf8'));
  } catch (error) {
    if (error instanceof SvgProblem) return { line: error.line, reason: error.message };
    throw error;
  }
}

async function pngLogo(content: Buffer): Promise<TemplateLogo | LogoProblem> {
  const { PngProblem, readPngLogo } = await import('./png-logo.ts');
  try {
    return await readPngLogo(content);
  } catch (error) {
    if (error instanceof PngProblem) return { line: null, reason: error.message };
    throw error;
  }
}

class FileProblem extends Error {}

/** @throws FileProblem if it is larger, else the error of the file system */
async function readLimited(path: string, maxBytes: number): Promise<Buffer> {
  const file = await openPlain(path);
  try {
    const buffer = Buffer.alloc(maxBytes + 1);
    let length = 0;
    for (let read = 1; read > 0 && length <= maxBytes; length += read)
      ({ bytesRead: read } = await file.read(buffer, length, buffer.length - length));
    if (length > maxBytes) throw new FileProblem(`is larger than ${maxBytes / 1024} KiB`);
    return buffer.subarray(0, length);
  } finally {
    await file.close();
  }
}

/** Why a file of a template cannot be read, without its path. */
function problemOf(error: unknown): string {
  if (error instanceof FileProblem) return error.message;
  if (isMissing(error)) return 'does not exist';
  if (isNoPlainFile(error)) return 'is a link or not a file';
  const { code } = error as NodeJS.ErrnoException;
  if (code === undefined) throw error;
  return `cannot be read (${code})`;
}

async function unknownTemplate(folder: string, name: string): Promise<Error> {
  const names = [summaryTemplate.name, ...(await templateNames(folder))];
  const reason = `no template has the name ${JSON.stringify(name.slice(0, 64))}; there are ${names.slice(0, maxListed).join(', ')}`;
  return invalidRequest(`unknown template: ${reason}`, [{ field: 'template', reason }]);
}

/** The names of all templates, sorted. */
async function templateNames(folder: string): Promise<string[]> {
  if (!(await isPlainFolder(folder))) return [];
  const entries = await readdir(folder, { withFileTypes: true });
  return entries
    .filter((entry) => entry.isDirectory() && namePattern.test(entry.name))
    .map((entry) => entry.name)
    .sort();
}
