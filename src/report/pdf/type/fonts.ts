import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, join } from 'node:path';

export const faces = ['regular', 'medium', 'semibold', 'mono'] as const;
export type Face = (typeof faces)[number];

/** TrueType outlines: those of CFF fonts come out as Type 3 and badly spaced. */
const fontFiles: Record<Face, string> = {
  regular: '@expo-google-fonts/inter/400Regular/Inter_400Regular.ttf',
  medium: '@expo-google-fonts/inter/500Medium/Inter_500Medium.ttf',
  semibold: '@expo-google-fonts/inter/600SemiBold/Inter_600SemiBold.ttf',
  mono: '@expo-google-fonts/jetbrains-mono/400Regular/JetBrainsMono_400Regular.ttf',
};

/** What the build copies beside the compiled program, where the packages of the fonts are not installed. */
export const packedFonts: readonly { source: string; target: string }[] = [
  ...faces.map((face) => ({ source: fontFiles[face], target: basename(fontFiles[face]) })),
  { source: '@expo-google-fonts/inter/LICENSE_FONT', target: 'Inter-OFL.txt' },
  { source: '@expo-google-fonts/jetbrains-mono/LICENSE_FONT', target: 'JetBrainsMono-OFL.txt' },
];

/** Folder of the packed fonts beside the compiled form of this file. */
export const packedFontFolder = 'report/pdf/type/fonts';

function fontPath(face: Face): string {
  const packed = join(import.meta.dirname, 'fonts', basename(fontFiles[face]));
  return existsSync(packed) ? packed : createRequire(import.meta.url).resolve(fontFiles[face]);
}

export async function readFonts(): Promise<Record<Face, Uint8Array>> {
  const [regular, medium, semibold, mono] = await Promise.all(faces.map((face) => readFile(fontPath(face))));
  return { regular, medium, semibold, mono } as Record<Face, Uint8Array>;
}
