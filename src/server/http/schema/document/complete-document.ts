import type { ApiDocument } from './api-document.ts';
import { shareErrors } from './error-responses.ts';
import { addExamples } from './examples.ts';
import { nameSchemas } from './named-schemas.ts';
import { shareExamples, shareParameters } from './shared-parts.ts';

/**
 * Completes the document that is made from the routes: what occurs several times stands once in its components, and
 * every operation has examples.
 */
export function completeDocument(document: ApiDocument): ApiDocument {
  shareErrors(document);
  nameSchemas(document);
  addExamples(document);
  shareParameters(document);
  shareExamples(document);
  return document;
}
