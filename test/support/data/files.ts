/** A PNG image of one pixel, in base64. */
export const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

/** A PDF of this many bytes that no viewer opens, in base64. */
export const pdfOf = (bytes: number): string =>
  Buffer.from('%PDF-1.7\n'.padEnd(bytes, '%')).toString('base64')

export const PDF = { mediaType: 'application/pdf', data: pdfOf(40) }
export const IMAGE = { mediaType: 'image/png', data: PIXEL }

export const PIXEL_BYTES = Buffer.from(PIXEL, 'base64')
