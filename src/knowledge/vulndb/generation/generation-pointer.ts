import { closeSync, fstatSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { damagedBlock } from './block-file.ts';
import {
  type GenerationManifest,
  generationPattern,
  maxGenerationManifestBytes,
  maxPointerBytes,
  readGenerationManifest,
} from './manifest.ts';

/** File that names the current generation. */
export const pointerName = 'current';

/** Attempts to open a generation while imports replace it. */
const openTries = 5;

/**
 * The manifest of the current generation, without opening the rest.
 *
 * @throws PortolanError `conflict`
 */
export function readCurrentManifest(dir: string): GenerationManifest | null {
  return openCurrent(dir, manifestOf);
}

/**
 * Opens the generation that the pointer names, and retries when an import replaces it meanwhile.
 *
 * @returns null when nothing was imported into this folder
 * @throws PortolanError `conflict` when the data is damaged
 */
export function openCurrent<T>(dir: string, open: (folder: string, generation: string) => T): T | null {
  for (let attempt = 1; ; attempt++) {
    const generation = readPointer(dir);
    if (generation === null) return null;
    try {
      return open(join(dir, generation), generation);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
      if (attempt >= openTries || readPointer(dir) === generation)
        throw damagedBlock('a file is missing', error);
    }
  }
}

/** Name of the current generation. @throws PortolanError `conflict` */
export function readPointer(dir: string): string | null {
  let text: string;
  try {
    text = readSmall(join(dir, pointerName), maxPointerBytes);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
  const generation = text.trim();
  if (!generationPattern.test(generation)) throw damagedBlock('its pointer names no generation');
  return generation;
}

export function manifestOf(folder: string, generation: string): GenerationManifest {
  const text = readSmall(join(folder, 'manifest.json'), maxGenerationManifestBytes);
  let manifest: GenerationManifest;
  try {
    manifest = readGenerationManifest(text);
  } catch (error) {
    throw damagedBlock(`cannot read its manifest (${(error as Error).message})`, error);
  }
  if (manifest.generation !== generation) throw damagedBlock('its manifest belongs to another generation');
  return manifest;
}

function readSmall(path: string, most: number): string {
  const fd = openSync(path, 'r');
  try {
    const { size } = fstatSync(fd);
    if (size > most) throw damagedBlock('its manifest or pointer is too large');
    return readFileSync(fd, 'utf8');
  } finally {
    closeSync(fd);
  }
}
