import type { Violation } from '../../core/errors.ts'
import { isJsonObject, type Json } from '../../core/json/json.ts'
import { findMediaType, isImageType, MAX_IMAGE_BYTES, PDF, sizeOfBase64 } from '../../core/media.ts'
import { joinWithOr, toViolation } from '../message-text.ts'
import type { FileLimits } from './file-schema.ts'

/** A value in the position of a file, which may be anything else if the input is not valid. */
export type FoundFile = { path: string[]; value: Json; limits: FileLimits }

/** The types of the files that are some. */
export const mediaTypesOf = (files: readonly FoundFile[]): string[] =>
  files.flatMap(({ value }) => (isJsonObject(value) ? `${value.mediaType}` : []))

/** What a request to any provider may contain: Bedrock accepts 20 images and 5 documents. */
const MAX_FILES = 20
const MAX_PDFS = 5

/** Checks the files of an input: their type, also by their first bytes, their base64 and their size. */
export function checkFiles(files: readonly FoundFile[]): Violation[] {
  const tooMany = checkCount(files)
  return tooMany ? [tooMany] : files.flatMap((file) => checkFile(file) ?? [])
}

function checkCount(files: readonly FoundFile[]): Violation | undefined {
  const pdfs = mediaTypesOf(files).filter((mediaType) => mediaType === PDF)
  if (files.length > MAX_FILES)
    return toViolation([], `must have at most ${MAX_FILES} files, but has ${files.length}.`)
  if (pdfs.length > MAX_PDFS)
    return toViolation([], `must have at most ${MAX_PDFS} files of type ${PDF}, but has ${pdfs.length}.`)
  return undefined
}

function checkFile({ path, value, limits }: FoundFile): Violation | undefined {
  if (!isJsonObject(value))
    return toViolation(path, 'must be a file: { mediaType, data } with data in base64, or a data URL.')
  const { mediaType, data } = value
  if (typeof mediaType !== 'string' || !limits.mediaTypes.includes(mediaType))
    return toViolation([...path, 'mediaType'], `must be ${joinWithOr(limits.mediaTypes)}.`)
  const problem = checkData(data, mediaType, limits)
  return problem === undefined ? undefined : toViolation([...path, 'data'], problem)
}

function checkData(data: Json | undefined, mediaType: string, { maxBytes }: FileLimits): string | undefined {
  if (data === undefined) return 'is required.'
  if (typeof data !== 'string' || Buffer.from(data, 'base64').toString('base64') !== data)
    return 'must be valid base64.'
  if (data === '') return 'must not be empty.'
  const bytes = sizeOfBase64(data)
  const limit = isImageType(mediaType) ? Math.min(maxBytes, MAX_IMAGE_BYTES) : maxBytes
  if (bytes > limit) return `must be a file of at most ${limit} bytes, but has ${bytes}.`
  const found = findMediaType(data)
  if (found === mediaType) return undefined
  return `must be a file of type ${mediaType}, but starts like ${found ?? 'another type'}.`
}
