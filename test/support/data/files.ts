import { PIXEL } from './pixel.ts'

/** A PDF of this many bytes that no viewer opens, in base64. */
export const pdfOf = (bytes: number): string =>
  Buffer.from('%PDF-1.7\n'.padEnd(bytes, '%')).toString('base64')

export const PDF = { mediaType: 'application/pdf', data: pdfOf(40) }
export const IMAGE = { mediaType: 'image/png', data: PIXEL }
