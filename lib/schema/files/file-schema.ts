import { isJsonObject, type Json, type JsonObject } from '../../core/json/json.ts'
import { MEDIA_TYPES } from '../../core/media.ts'

/** What a field accepts. */
export type FileLimits = { mediaTypes: readonly string[]; maxBytes: number }

/** Base64 of more does not fit a request body. */
export const MAX_FILE_BYTES = 4_500_000

type FileField = { description?: string | undefined } & Partial<{
  [Name in keyof FileLimits]: FileLimits[Name] | undefined
}>

/**
 * The JSON Schema of a file. `contentEncoding` marks it, also in the JSON Schema of an author. `maxBytes` is not a
 * keyword of JSON Schema: validators ignore it.
 */
export const toFileSchema = ({
  description,
  mediaTypes = MEDIA_TYPES,
  maxBytes = MAX_FILE_BYTES,
}: FileField): JsonObject => ({
  type: 'object',
  ...(description !== undefined && { description }),
  properties: {
    mediaType: { type: 'string', enum: [...mediaTypes] },
    data: { type: 'string', contentEncoding: 'base64', maxBytes },
  },
  required: ['mediaType', 'data'],
  additionalProperties: false,
})

/** The limits of the schema of a file; undefined for any other schema. */
export function readFileLimits({ properties }: JsonObject): FileLimits | undefined {
  if (!isJsonObject(properties)) return undefined
  const { mediaType, data } = properties
  if (!isJsonObject(data) || data.contentEncoding !== 'base64' || !isJsonObject(mediaType)) return undefined
  const allowed = Array.isArray(mediaType.enum) ? mediaType.enum.map(String) : [mediaType.const ?? null]
  const mediaTypes = MEDIA_TYPES.filter((type) => allowed.includes(type) || allowed.includes(null))
  return { mediaTypes, maxBytes: typeof data.maxBytes === 'number' ? data.maxBytes : MAX_FILE_BYTES }
}

/** Whether a declared schema may have files: a quick test that spares other agents the rest. */
export function mayHaveFiles(declared: Json): boolean {
  if (Array.isArray(declared)) return declared.some(mayHaveFiles)
  if (!isJsonObject(declared)) return false
  return (
    declared.type === 'file' ||
    declared.contentEncoding === 'base64' ||
    Object.values(declared).some(mayHaveFiles)
  )
}
