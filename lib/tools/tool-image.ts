import type { ToolImage } from '../core/model.ts'

/** The smallest limit of the providers, Bedrock's. */
const MAX_IMAGE_BYTES = 3_750_000
/** Images of one result. */
const MAX_IMAGES = 5

/** The types that all providers accept, by how their files begin. */
const SIGNATURES: [mediaType: string, pattern: RegExp][] = [
  ['image/png', /^\x89PNG\r\n/],
  ['image/jpeg', /^\xff\xd8\xff/],
  ['image/gif', /^GIF8[79]a/],
  ['image/webp', /^RIFF.{4}WEBP/s],
]

/** Null for bytes that are no such image, or too many: a provider would reject every further request of the run. */
export function toImage(bytes: Buffer): ToolImage | null {
  const start = bytes.subarray(0, 16).toString('latin1')
  const [mediaType] = SIGNATURES.find(([, pattern]) => pattern.test(start)) ?? []
  if (!mediaType || bytes.length > MAX_IMAGE_BYTES) return null
  return { mediaType, data: bytes.toString('base64') }
}

/** What stands for an image in the text of a result, for models that do not accept images and for people. */
export const describeImage = ({ mediaType }: ToolImage, bytes: number): string =>
  `[Image of type ${mediaType}, ${bytes} bytes.]`

/** Collects the images of one result, and returns what stands for each in the text. */
export class ImageCollector {
  readonly images: ToolImage[] = []

  add(bytes: Buffer, mediaType: string): string {
    const image = toImage(bytes)
    if (!image || this.images.length === MAX_IMAGES) return `[Binary content of type ${mediaType} omitted.]`
    this.images.push(image)
    return describeImage(image, bytes.length)
  }
}
