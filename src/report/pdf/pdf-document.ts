import { visibleText } from '../../domain/text/visible.ts';
import type { Report } from '../model/report.ts';
import { paperGeometry } from './paper.ts';
import type { PdfkitParts } from './sheet/pdfkit-parts.ts';
import { PieceDocument } from './sheet/piece-document.ts';
import { type Face, faces, readFonts } from './type/fonts.ts';
import type { Typefaces } from './type/text-layout.ts';
import { Typeface } from './type/typeface.ts';

/** pdfkit puts texts of the document information into XML as they are: this one escapes itself there. */
class InfoText extends String {
  override toString(): string {
    return this.valueOf().replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  }
}

function infoText(text: string): string {
  return new InfoText(visibleText(text)) as unknown as string;
}

/** A tagged document without pages. Pages are written as the next one begins. */
export function openDocument(report: Report): PieceDocument {
  const { width, height } = paperGeometry[report.options.paper];
  const options = {
    size: [width, height],
    margin: 0,
    autoFirstPage: false,
    bufferPages: false,
    // pdfkit loads Helvetica otherwise.
    font: null as unknown as string,
    pdfVersion: '1.7' as const,
    subset: 'PDF/UA' as unknown as 'PDF/A-1',
    tagged: true,
    lang: 'en-US',
    displayTitle: true,
    info: {
      Title: infoText(report.title),
      Subject: infoText(`Network security scan ${report.facts.scan_id}`),
      Keywords: infoText(report.facts.scan_id),
      Creator: 'Portolan',
      Producer: 'Portolan with PDFKit',
      CreationDate: new Date(report.options.madeAt),
    },
  };
  return new PieceDocument(options);
}

/** Opens the fonts within the document, which embeds the glyphs that are drawn. */
export async function openTypefaces(document: PDFKit.PDFDocument): Promise<Typefaces> {
  const files = await readFonts();
  const open = (face: Face): Typeface => {
    document.font(files[face]);
    const { _font } = document as unknown as PdfkitParts;
    return new Typeface(_font, { kerned: face !== 'mono' });
  };
  return Object.fromEntries(faces.map((face) => [face, open(face)])) as unknown as Typefaces;
}
