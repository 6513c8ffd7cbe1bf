import { nearest } from '../../domain/text/nearest.ts';

/** What other programs call a command, and what it is called here: the first that exists is meant. */
const verbs: readonly (readonly [words: string, meant: string])[] = [
  ['ls list all history', 'list'],
  ['get show info view describe details results findings hosts ports', 'show'],
  ['rm del remove delete uninstall', 'delete remove revoke cancel'],
  ['stop kill abort end cancel', 'stop cancel'],
  ['continue unpause resume', 'resume'],
  ['follow tail watch', 'watch logs'],
  ['compare changes diff', 'diff'],
  ['report download save export', 'export'],
  ['clean cleanup prune purge gc', 'gc'],
  ['run start launch new create add submit', 'start submit create install'],
  ['verify lint check validate', 'validate verify check'],
  ['upgrade update migrate', 'migrate sync update'],
];

/** Words that start a scan elsewhere; here `scan` itself does. */
const startWords = 'run start launch new create add submit';

export function startsScan(word: string): boolean {
  return startWords.split(' ').includes(word);
}

export function isVerb(word: string): boolean {
  return verbs.some(([words]) => words.split(' ').includes(word));
}

/** The command of `known` that a word means, in the words of other programs or mistyped. */
export function meantCommand(word: string, known: readonly string[]): string | null {
  const [, meant = ''] = verbs.find(([words]) => words.split(' ').includes(word)) ?? [];
  return meant.split(' ').find((name) => known.includes(name)) ?? nearest(word, known);
}
