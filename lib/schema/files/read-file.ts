import type { JsonObject } from '../../core/json/json.ts'
import { findMediaType, parseDataUrl } from '../../core/media.ts'
import type { FileLimits } from './file-schema.ts'

/** The file in a text: a data URL, or base64 of a type that the field accepts. Undefined for any other text. */
export function readFile(text: string, { mediaTypes }: FileLimits): JsonObject | undefined {
  const parsed = parse(text)
  if (!parsed?.data) return undefined
  const { mediaType, data } = parsed
  if (mediaType !== undefined) return { mediaType, data }
  const found = findMediaType(data)
  return found && mediaTypes.includes(found) ? { mediaType: found, data } : undefined
}

/**
 * A file with its base64 as the standard writes it, and with the type that a data URL or its first bytes tell if it has
 * none. The same object if nothing changes, also if its two types contradict each other.
 */
export function normalizeFile(file: JsonObject): JsonObject {
  const { mediaType, data } = file
  const parsed = typeof data === 'string' ? parse(data) : undefined
  if (!parsed) return file
  const stated = typeof mediaType === 'string' ? toName(mediaType) : undefined
  if (stated !== undefined && parsed.mediaType !== undefined && stated !== parsed.mediaType) return file
  const found = mediaType === undefined ? findMediaType(parsed.data) : undefined
  const type = stated ?? parsed.mediaType ?? found
  if (type === mediaType && parsed.data === data) return file
  return { ...file, ...(type !== undefined && { mediaType: type }), data: parsed.data }
}

function parse(text: string): { mediaType: string | undefined; data: string } | undefined {
  const url = parseDataUrl(text)
  const data = toBase64(url?.data ?? text)
  return data === undefined
    ? undefined
    : { mediaType: url?.mediaType ? toName(url.mediaType) : undefined, data }
}

/** Base64 without white space, or its URL-safe alphabet, with padding; undefined for any other text. */
function toBase64(text: string): string | undefined {
  const canonical = Buffer.from(text, 'base64').toString('base64')
  if (canonical === text) return text
  const standard = text.replace(/\s+/g, '').replaceAll('-', '+').replaceAll('_', '/')
  return withoutPadding(canonical) === withoutPadding(standard) ? canonical : undefined
}

const withoutPadding = (data: string): string => data.replace(/={1,2}$/, '')

/** A name that many clients use is not a registered one. */
function toName(mediaType: string): string {
  const name = mediaType.trim().toLowerCase()
  return name === 'image/jpg' ? 'image/jpeg' : name
}
