import type { FileInput } from './contract.ts'

/** More bytes at a time are too many arguments. */
const CHUNK_BYTES = 32_768

/**
 * A file as inputs have it, for fields of agents with `type: file`. The service checks its type.
 * @param content with a type, as browsers set it, or as in `new Blob([bytes], { type: 'application/pdf' })`
 */
export async function toFile<Type extends FileInput['mediaType'] = FileInput['mediaType']>(
  content: Blob,
): Promise<{ mediaType: Type; data: string }> {
  const bytes = new Uint8Array(await content.arrayBuffer())
  let binary = ''
  for (let start = 0; start < bytes.length; start += CHUNK_BYTES)
    binary += String.fromCharCode(...bytes.subarray(start, start + CHUNK_BYTES))
  return { mediaType: content.type as Type, data: btoa(binary) }
}
