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

/** Bytes of canonical base64; about as many of any other text. */
export const sizeOfBase64 = (data: string): number =>
  Math.floor(data.length / 4) * 3 - (data.endsWith('==') ? 2 : data.endsWith('=') ? 1 : 0)

/** Whether a value looks like a file, whatever its schema says. */
export function isMedia(value: object): value is Media {
  const { mediaType, data } = value as Partial<Media>
  return (
    MEDIA_TYPES.some((type) => type === mediaType) &&
    typeof data === 'string' &&
    BASE64.test(data.slice(0, 20))
  )
}

const BASE64 = /^[A-Za-z0-9+/]{20}$/

/** A data URL (RFC 2397) in base64 up to its data, whose parameters are short. */
const DATA_URL = /^\s*data:([\w.+-]+\/[\w.+-]+)?(?:;[^;,]*)*?;base64,/i
const MAX_PREFIX_CHARACTERS = 300

/** The type and the base64 of a data URL, as they are written; undefined for any other text. */
export function parseDataUrl(text: string): Media | undefined {
  const [prefix, mediaType = ''] = DATA_URL.exec(text.slice(0, MAX_PREFIX_CHARACTERS)) ?? []
  return prefix === undefined ? undefined : { mediaType, data: text.slice(prefix.length) }
}
