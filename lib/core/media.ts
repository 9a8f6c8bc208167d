/** An image or a document; `data` is base64 (RFC 4648, section 4) without whitespace. */
export type Media = { mediaType: string; data: string }

/** The types that all providers accept, by the signatures of their files. */
const SIGNATURES = {
  'application/pdf': /^%PDF-/,
  'image/png': /^\x89PNG\r\n/,
  'image/jpeg': /^\xff\xd8\xff/,
  'image/gif': /^GIF8[79]a/,
  'image/webp': /^RIFF.{4}WEBP/s,
}

export type MediaType = keyof typeof SIGNATURES
export const MEDIA_TYPES = Object.keys(SIGNATURES) as MediaType[]

export const PDF = 'application/pdf' satisfies MediaType
export const isImageType = (mediaType: string): boolean => mediaType.startsWith('image/')

/** The smallest limit of the providers, Bedrock's. */
export const MAX_IMAGE_BYTES = 3_750_000

/** The first bytes, which contain every signature. */
export const SIGNATURE_BYTES = 18

/** The type that the first bytes of base64 tell; undefined for another one. */
export function findMediaType(data: string): MediaType | undefined {
  const start = atob(data.slice(0, (SIGNATURE_BYTES / 3) * 4))
  return MEDIA_TYPES.find((mediaType) => SIGNATURES[mediaType].test(start))
}

/** Bytes of canonical base64. */
export const sizeOfBase64 = (data: string): number =>
  (data.length / 4) * 3 - (data.endsWith('==') ? 2 : data.endsWith('=') ? 1 : 0)
